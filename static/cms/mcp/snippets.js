// Buttons that copy the text beside them. Without them the text is selected by hand.

const said = document.querySelector("[data-snippet-said]");

function select(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    // No clipboard without HTTPS: the text is selected, and the old way tried.
    select(element);
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("[data-copies]")) {
  const text = document.getElementById(button.dataset.copies);
  const words = [...button.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
  const before = words.data;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (!(await copy(text)) || !said) return;
    words.data = said.dataset.words;
    said.textContent = "";
    setTimeout(() => { said.textContent = said.dataset.words; }, 50);
    setTimeout(() => { words.data = before; }, 2000);
  });
}
