// Asking an agent: the words box follows the agent that is chosen, and the menus beside fields close by themselves.

for (const form of document.querySelectorAll("[data-choose]")) follow(form);

function follow(form) {
  const words = form.querySelector("[data-choose-words]");
  if (!words) return;
  const box = words.querySelector("textarea");

  function count() {
    words.querySelector("[data-counter]").textContent = `${box.value.length} / ${box.getAttribute("maxlength")}`;
  }

  function choose() {
    const agent = form.querySelector('input[name="agent"]:checked');
    const takesWords = Boolean(agent?.dataset.max);
    words.hidden = !takesWords;
    box.disabled = !takesWords;
    if (!takesWords) return;
    words.querySelector("[data-words-label]").textContent = agent.dataset.label;
    words.querySelector("[data-words-for]")?.setAttribute("hidden", "");
    box.placeholder = agent.dataset.placeholder;
    box.setAttribute("maxlength", agent.dataset.max);
    count();
  }

  form.addEventListener("change", choose);
  box.addEventListener("input", count);
  choose();
}

const menus = [...document.querySelectorAll("details[data-menu]")];
const close = (but) => menus.forEach((menu) => { if (menu !== but) menu.open = false; });
if (menus.length) {
  document.addEventListener("click", ({ target }) => close(target.closest("details[data-menu]")));
  document.addEventListener("keydown", ({ key, target }) => {
    const menu = target.closest("details[data-menu]");
    if (key !== "Escape" || !menu?.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// Another agent, another estimate.
const bulk = document.querySelector("[data-estimate]");
bulk?.addEventListener("change", async ({ target }) => {
  if (target.name !== "agent") return;
  const sent = new FormData(bulk);
  sent.set("do", "estimate");
  try {
    const answer = await fetch(bulk.action, { method: "POST", body: sent });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#estimate");
    if (fresh && target.checked) bulk.querySelector("#estimate").replaceWith(fresh);
  } catch {
    // The server asks again before it begins what was not estimated.
  }
});

// A batch that goes on is read again by itself: messages tell of steps and ends, not of beginnings and of words written.
const followed = document.querySelector("[data-follow]");
if (followed) setInterval(again, 3000);

async function again() {
  if (document.hidden || !followed.querySelector("[data-busy]")) return;
  try {
    const answer = await fetch(location.href, { headers: { "X-Live": "1" } });
    if (!answer.ok || answer.redirected) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(followed.id);
    if (fresh && !followed.contains(document.activeElement)) followed.replaceChildren(...fresh.childNodes);
  } catch {
    // The page shows what it showed; the next time it asks again.
  }
}
