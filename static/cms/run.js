// Follows a run: asks how far it is every second, and loads the page again when it is finished.

const card = document.querySelector("[data-run]");
if (card && !("finished" in card.dataset)) follow(card);

function follow(card) {
  const steps = card.querySelector("[data-steps]");
  const status = card.querySelector("[data-status]");
  const live = card.querySelector("[data-live]");
  let wait = 1000;
  let next;

  function line(step) {
    const item = document.createElement("li");
    item.className = step.ok ? "ok" : "failed";
    const name = document.createElement("strong");
    name.textContent = step.name;
    item.append(name, ` ${step.ms} ms ${step.summary}`);
    return item;
  }

  async function ask() {
    try {
      const answer = await fetch(card.dataset.run, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const run = await answer.json();
      if (run.isFinished) return location.reload();
      if (status.textContent !== run.label) {
        status.textContent = run.label;
        live.textContent = run.label;
      }
      steps.replaceChildren(...run.steps.map(line));
      wait = 1000;
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
