// Follows a run: asks how far it is every second, and loads the page again when it is finished.

const card = document.querySelector("[data-run]");
if (card && !("finished" in card.dataset)) follow(card);

function follow(card) {
  const steps = document.querySelector("[data-steps]");
  const part = (name) => card.querySelector(`[data-${name}]`);
  const [status, live, doing, used] = ["status", "live", "doing", "used"].map(part);
  let wait = 1000;
  let next;

  function line(step) {
    const item = document.createElement("li");
    item.className = `${step.kind} ${step.ok ? "ok" : "failed"}`;
    item.append(element("strong", step.name), " ", element("span", `${step.kind} · ${step.ms} ms`, "quiet"));
    if (step.summary) item.append(" ", element("span", step.summary, "step-summary"));
    return item;
  }

  function element(name, text, className = "") {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  }

  function show(run) {
    if (status.textContent !== run.label) status.textContent = live.textContent = run.label;
    if (run.doing) doing.textContent = run.doing;
    if (used) used.textContent = run.tokens;
    if (!run.steps.length) return;
    steps.replaceChildren(...run.steps.map(line));
    steps.parentElement.querySelector(":scope > p.quiet")?.remove();
  }

  async function ask() {
    try {
      const answer = await fetch(card.dataset.run, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const run = await answer.json();
      if (run.isFinished) return location.reload();
      show(run);
      // Where events are heard, asking is only for what nobody tells of.
      wait = document.documentElement.hasAttribute("data-connected") ? 3000 : 1000;
    } catch {
      // A server that is away for a moment is asked more slowly, never given up.
      wait = Math.min(wait * 2, 15000);
    }
    plan(wait);
  }

  function plan(milliseconds) {
    clearTimeout(next);
    next = setTimeout(ask, milliseconds);
  }

  // Where events are heard, the end of the run is not waited for.
  document.addEventListener("live", ({ detail }) => { if (/^(agent\.)?run\./.test(detail.event)) plan(0); });
  plan(400);
}
