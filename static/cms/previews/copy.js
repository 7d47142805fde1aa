// A button that copies a link that is shown once. Without it the link is selected by hand.

const link = document.querySelector("[data-copied]");
const button = document.querySelector("[data-copy]");
const said = document.querySelector("[data-copy-said]");

if (link && button) {
  link.addEventListener("focus", () => link.select());
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(link.value);
      said.textContent = said.dataset.words;
    } catch {
      link.focus();
    }
  });
}
