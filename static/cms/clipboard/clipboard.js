// Makes [data-copies] buttons copy a field or the text of an element. Without this file, users select the text by hand.

const status = document.querySelector("[data-copy-said]");

function selectText(element) {
  if (element.select) {
    element.select();
    return;
  }
  getSelection().selectAllChildren(element);
}

async function copyText(element) {
  try {
    await navigator.clipboard.writeText(element.value ?? element.innerText);
    return true;
  } catch {
    // Without HTTPS there is no clipboard API, so fall back to the older execCommand.
    selectText(element);
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("[data-copies]")) {
  const text = document.getElementById(button.dataset.copies);
  const label = [...button.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
  const oldLabel = label.data;
  button.hidden = false;
  text.addEventListener("focus", () => text.select?.());
  button.addEventListener("click", async () => {
    if (!(await copyText(text)) || !status) return;
    label.data = status.dataset.words;
    // A live region announces the same text again only if it was empty in between.
    status.textContent = "";
    setTimeout(() => { status.textContent = status.dataset.words; }, 50);
    setTimeout(() => { label.data = oldLabel; }, 2000);
  });
}
