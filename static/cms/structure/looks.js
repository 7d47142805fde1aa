// A form whose page shows what it would do: after each word that is typed the server is asked (do=preview), and what
// it answers takes the place of the parts data-swap. Without this the button for that shows the page anew.

const form = document.querySelector("[data-looks]");
let asking;
let timer;

async function look() {
  asking?.abort();
  asking = new AbortController();
  const body = new FormData(form);
  body.set("do", "preview");
  try {
    const answer = await fetch(form.action, { method: "POST", body, signal: asking.signal, headers: { "X-Live": "1" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of form.querySelectorAll("[data-swap]")) {
      const next = page.querySelector(`[data-swap=${old.dataset.swap}]`);
      if (next) old.replaceChildren(...next.childNodes);
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(look, 250);
});
