// Tests the accessibility of the page in a hidden frame, stores the result, and loads the page again to show it.

import { request } from "../http.js";

const MAX_SECONDS = 60;
const MAX_RULES = 100;
const MAX_LENGTH = 300;

/** Open the page in a frame and return what its test found. */
function testPage(address) {
  const box = document.createElement("div");
  const frame = document.createElement("iframe");
  box.className = "check-frame-box";
  frame.className = "check-frame";
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  // The policy of the page lets only the scripts of the test run.
  frame.setAttribute("sandbox", "allow-same-origin allow-scripts");
  frame.src = address;
  box.append(frame);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("timeout")), MAX_SECONDS * 1000);
    window.addEventListener("message", function receive({ data, source, origin }) {
      if (source !== frame.contentWindow || origin !== location.origin || !data?.accessibility) return;
      window.removeEventListener("message", receive);
      clearTimeout(timer);
      if (data.accessibility.error) reject(new Error(data.accessibility.error));
      else resolve(data.accessibility);
    });
    document.body.append(box);
  }).finally(() => box.remove());
}

const cut = (text) => String(text ?? "").slice(0, MAX_LENGTH);

/** Return the violations as they are stored: one for each rule. */
function summarize(violations) {
  return violations.slice(0, MAX_RULES).map(({ id, impact, help, helpUrl, nodes }) => ({
    rule: id, impact: impact ?? null, help: cut(help), helpUrl, count: nodes.length, target: cut(nodes[0]?.target?.join(" ")),
  }));
}

async function run(section) {
  const button = section.querySelector("[data-test]");
  const state = section.querySelector("[data-state]");
  button.disabled = true;
  state.textContent = section.dataset.running;
  try {
    const { engine, violations } = await testPage(section.dataset.accessibility);
    await request(section.dataset.store, { body: { digest: section.dataset.digest, engine, violations: summarize(violations) } });
    state.textContent = section.dataset.done;
    location.reload();
  } catch (error) {
    state.textContent = (error.data && error.message) || section.dataset.failed;
    button.disabled = false;
  }
}

for (const section of document.querySelectorAll("[data-accessibility]")) {
  section.querySelector("[data-test]").addEventListener("click", () => run(section));
}
