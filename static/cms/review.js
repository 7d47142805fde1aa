// The review form with keys and live counts. Without this file it is a form of radio groups that works as well.

const form = document.querySelector("[data-review]");
if (form) start(form);

function start(form) {
  const cards = [...form.querySelectorAll("[data-change]")];
  const live = form.querySelector("[data-live]");
  const take = form.querySelector("[data-take-button]");
  const reject = form.querySelector("[data-reject-button]");
  const help = document.querySelector("[data-help]");
  const verb = form.dataset.verb;
  const undo = [];
  const last = new Map();

  const radio = (card, value) => card.querySelector(`input[type=radio][value=${value}]`);
  const decision = (card) => card.querySelector("input[type=radio]:checked")?.value ?? "leave";
  const count = (value) => cards.filter((card) => decision(card) === value).length;
  const name = (card) => card.querySelector("h3").textContent.trim();
  const say = (text) => { live.textContent = text; };

  function show() {
    const [accepted, rejected] = [count("accept"), count("reject")];
    const numbers = { accept: accepted, reject: rejected, leave: cards.length - accepted - rejected };
    for (const [value, number] of Object.entries(numbers)) {
      form.querySelector(`[data-count=${value}]`).textContent = number;
    }
    const target = verb === "Submit" ? " to Review" : "";
    const also = rejected ? `, reject ${rejected}` : "";
    if (take) {
      take.textContent = accepted ? `${verb} ${accepted}${target}${also}` : rejected ? `${verb} 0` : `${verb} all…`;
      // With rejections alone there is nothing to take: that is the other button.
      take.disabled = !accepted && rejected > 0;
    }
    if (reject) reject.textContent = rejected ? `Reject ${rejected}` : "Reject all…";
    return numbers;
  }

  function decide(card, value, { remember = true } = {}) {
    const button = radio(card, value);
    if (!button || button.disabled || button.checked) return;
    if (remember) undo.push([card, decision(card)]);
    button.checked = true;
    last.set(card, value);
    const numbers = show();
    const words = { accept: "accepted", reject: "rejected", leave: "left for later" };
    say(`${name(card)}: ${words[value]}, ${numbers.leave} left`);
  }

  const at = () => cards.findIndex((card) => card.contains(document.activeElement));
  function move(step) {
    const from = at();
    const to = from < 0 ? (step > 0 ? 0 : cards.length - 1) : from + step;
    const card = cards[Math.min(Math.max(to, 0), cards.length - 1)];
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  function acceptSafe() {
    const open = cards.filter((card) => decision(card) === "leave");
    const safe = open.filter((card) => !("flagged" in card.dataset));
    safe.forEach((card) => decide(card, "accept"));
    const skipped = open.length - safe.length;
    say(`${safe.length} accepted, ${skipped} left because a fact, link or image changes or somebody else was there`);
  }

  function takeBack() {
    const [card, value] = undo.pop() ?? [];
    if (!card) return say("Nothing to undo");
    decide(card, value, { remember: false });
    card.focus();
  }

  function key(event) {
    const typing = event.target.matches("input[type=text], textarea, select");
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && take) {
      event.preventDefault();
      if (count("accept")) form.requestSubmit(take);
      else say("Nothing is accepted yet");
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    const card = cards[at()];
    const keys = {
      j: () => move(1),
      k: () => move(-1),
      a: () => card && decide(card, "accept"),
      x: () => card && decide(card, "reject"),
      l: () => card && decide(card, "leave"),
      u: takeBack,
      A: acceptSafe,
      "?": () => help?.showModal(),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  }

  for (const card of cards) last.set(card, decision(card));
  form.addEventListener("change", (event) => {
    const card = event.target.closest("[data-change]");
    if (!card || event.target.type !== "radio") return;
    undo.push([card, last.get(card)]);
    last.set(card, event.target.value);
    const numbers = show();
    say(`${numbers.leave} left`);
  });
  // Enter in the note would press the first button: approving must be meant.
  form.querySelector("#note")?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) event.preventDefault();
  });
  document.addEventListener("keydown", key);
  // A page that the browser brings back shows the decisions that it kept.
  window.addEventListener("pageshow", show);
  form.querySelector("[data-keys]")?.removeAttribute("hidden");
  form.querySelector(".review-bar")?.setAttribute("data-live-bar", "");
  document.getElementById("problem")?.scrollIntoView({ block: "start" });
  show();
}
