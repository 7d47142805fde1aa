// Elements of the staff tools on pages of the site. Texts become text nodes, never markup.

export function make(name, attributes = {}, children = []) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter(Boolean));
  return element;
}

export function button(label, act) {
  const made = make("button", { type: "button" }, [label]);
  made.addEventListener("click", act);
  return made;
}
