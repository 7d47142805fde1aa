// The page of a post: the words box of the picked agent.

const agent = document.querySelector("#agent");
const words = document.querySelector("[data-words]");
const box = words?.querySelector("textarea");

function count() {
  const most = Number(box.getAttribute("maxlength"));
  words.querySelector("[data-counter]").textContent = `${box.value.length} / ${most}`;
}

function pick() {
  for (const entry of document.querySelectorAll("[data-agent]")) {
    entry.hidden = entry.dataset.agent !== agent.value;
  }
  if (!words) return;
  const rule = document.querySelector(`[data-words-of="${CSS.escape(agent.value)}"]`);
  words.hidden = !rule;
  box.disabled = !rule;
  if (!rule) return;
  words.querySelector("[data-words-label]").textContent = rule.dataset.label;
  words.querySelector("[data-words-for]").hidden = true;
  box.placeholder = rule.dataset.placeholder;
  box.setAttribute("maxlength", rule.dataset.max);
  count();
}

if (agent) {
  agent.addEventListener("change", pick);
  box?.addEventListener("input", count);
  pick();
}
