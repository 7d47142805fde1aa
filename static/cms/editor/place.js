// Where somebody was in the form, kept over a page that is loaded anew. Modules that were new have other names then:
// they are known by their place.

export function startPlace(form, modules) {
  const key = `cms:place:${form.dataset.post}`;

  function keep() {
    const active = document.activeElement;
    const field = active?.closest(".rt-field")?.querySelector("textarea") ?? active;
    const cards = modules?.cards() ?? [];
    const at = cards.indexOf(field?.closest("[data-module]"));
    const isNew = (card) => card.dataset.module.startsWith("new-") && modules.foldOf(card).open;
    const opened = [...cards.keys()].filter((number) => isNew(cards[number]));
    const place = { y: scrollY, id: field?.id ?? "", at, module: cards[at]?.dataset.module, opened };
    try { sessionStorage.setItem(key, JSON.stringify(place)); } catch { /* it begins on top */ }
  }

  async function putBack({ y, id, at, module, opened = [] }) {
    const cards = modules?.cards() ?? [];
    const card = cards[at];
    await Promise.all([...opened.map((number) => cards[number]), card].filter(Boolean).map(modules.open));
    const field = document.getElementById(card ? id.replace(module, card.dataset.module) : id);
    window.scrollTo(0, y);
    (field?.closest(".rt-field")?.querySelector("[contenteditable=true]") ?? field)?.focus({ preventScroll: !card });
  }

  let place;
  try {
    place = JSON.parse(sessionStorage.getItem(key) ?? "null");
    sessionStorage.removeItem(key);
  } catch { /* a store that is closed or holds something else: it begins on top */ }
  if (place && !location.hash) putBack(place);
  return { keep };
}
