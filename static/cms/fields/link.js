// A field with the address of a link: finds pages while somebody types, and says where the address leads.

import { combobox, fetchTargets, findTargets } from "./combobox.js";
import { notifyChanged, pageData } from "./page_data.js";

const TYPING_PAUSE_MILLISECONDS = 400;
const ADDRESS = /^([a-z][a-z0-9+.-]*:|#|\/\/)/i;

/** Makes the input a link picker; it keeps what is typed. */
export function linkField(input) {
  const line = document.createElement("span");
  line.className = "link-state";
  line.setAttribute("role", "status");
  input.placeholder ||= pageData("findLink");
  const isFull = input.dataset.link === "url";
  const module = input.closest("[data-module]")?.dataset.type;
  let asked = 0;
  let timer;

  async function check() {
    asked += 1;
    const mine = asked;
    const address = input.value.trim();
    if (!address) {
      line.textContent = "";
      delete line.dataset.state;
      return;
    }
    try {
      const found = await fetchTargets({ address, module });
      if (mine !== asked) return;
      line.textContent = found.sentence;
      line.dataset.state = found.state;
    } catch {
      line.textContent = "";
    }
  }

  if (!isFull) {
    combobox(input, {
      keepsText: true,
      search: async (q) => (q === "" || ADDRESS.test(q) ? [] : (await findTargets("link", q)).filter((item) => item.path)),
      onPick: (item) => {
        input.value = item.path;
        input.dataset.title = item.title;
        notifyChanged(input);
        check();
      },
    });
  }
  (input.parentElement.querySelector(":scope > .found + span") ?? input).after(line);
  input.addEventListener("input", (event) => {
    if (event.isTrusted) delete input.dataset.title;
    clearTimeout(timer);
    timer = setTimeout(check, TYPING_PAUSE_MILLISECONDS);
  });
  input.addEventListener("focus", check, { once: true });
  return { check };
}
