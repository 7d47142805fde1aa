// Words of the page, in the reader's language: the server gives each for one and for more.

const known = JSON.parse(document.getElementById("review-words")?.textContent ?? "{}");

export function say(name, values = {}) {
  const forms = known[name] ?? [""];
  const text = forms[values.count === 1 ? 0 : forms.length - 1];
  return text.replace(/%\((\w+)\)s/g, (_, key) => values[key] ?? "");
}
