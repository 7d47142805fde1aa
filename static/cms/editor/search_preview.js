// How the page looks as a result of a search and as a card of a social network, while its words are typed.

const TITLE_WIDTH = 580; // pixels that a result shows
const WORDS_MOST = 160;

export function startSearchPreview(form) {
  const box = form.querySelector("[data-search-preview]");
  if (!box) return;
  const canvas = document.createElement("canvas").getContext("2d");
  const value = (name) => form.elements[`post.${name}`]?.value?.trim() ?? "";
  const put = (name, text) => { for (const place of box.querySelectorAll(`[data-p-${name}]`)) place.textContent = text; };

  function widthOf(text) {
    canvas.font = "20px Arial, sans-serif";
    return Math.round(canvas.measureText(text).width);
  }

  function cut(text) {
    if (widthOf(text) <= TITLE_WIDTH) return text;
    let end = text.length;
    while (end > 1 && widthOf(`${text.slice(0, end)} …`) > TITLE_WIDTH) end -= 1;
    return `${text.slice(0, end).trimEnd()} …`;
  }

  function count(name, text, most, unit) {
    const place = box.querySelector(`[data-count-${name}]`);
    place.textContent = place.dataset.words.replace("{n}", String([...text].length)).replace("{width}", String(unit));
    place.classList.toggle("is-over", most);
  }

  function show() {
    const title = value("metaTitle") || value("title");
    const words = value("metaDescription") || value("excerpt");
    const width = widthOf(title);
    put("title", cut(title));
    put("words", words.length > WORDS_MOST ? `${words.slice(0, WORDS_MOST - 1).trimEnd()} …` : words);
    put("card", title);
    const slug = value("slug");
    const path = box.dataset.path;
    if (slug && path) put("path", path.replace(/[^/]*$/, slug).split("/").filter(Boolean).join(" › "));
    count("title", title, width > TITLE_WIDTH, width);
    count("words", words, words.length > WORDS_MOST, 0);
    for (const note of box.querySelectorAll("[data-note]")) {
      const is = {
        "no-title": !value("metaTitle"),
        "long-title": width > TITLE_WIDTH,
        "no-words": !value("metaDescription"),
        "long-words": words.length > WORDS_MOST,
        hidden: Boolean(form.elements["post.robotsJson.noindex"]?.checked),
      }[note.dataset.note];
      note.hidden = !is;
    }
  }

  form.addEventListener("input", ({ target }) => { if (target.name?.startsWith("post.")) show(); });
  show();
}
