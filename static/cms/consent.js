// Asks for consent to count visits, if the site requires it. The answer is stored in this browser, and a button in the
// footer opens the question again. Staff and visitors whose browser has already answered are not asked.

const KEY = "cms-consent";
const bar = document.querySelector("[data-consent-bar]");
const again = document.querySelector("[data-consent-again]");
const choices = bar ? [...bar.querySelectorAll("button[value]")] : [];
const isStaff = /(?:^|; )cms_staff=1/.test(document.cookie);
const isRefused = navigator.doNotTrack === "1" || navigator.globalPrivacyControl;
let answer = loadAnswer();

if (bar && !isStaff && !isRefused) {
  show(!answer);
  for (const choice of choices) choice.addEventListener("click", () => decide(choice.value));
  bar.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && answer) restoreFocus();
  });
  again?.addEventListener("click", () => {
    show(true);
    choices[0]?.focus();
  });
  addEventListener("storage", (event) => {
    // The key is null after localStorage.clear().
    if (event.key === KEY || event.key === null) publishAnswer(loadAnswer());
  });
  // A page restored from the back/forward cache missed answers given meanwhile.
  addEventListener("pageshow", (event) => event.persisted && loadAnswer() !== answer && publishAnswer(loadAnswer()));
}

function decide(value) {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Without storage the answer is valid for this page only.
  }
  const isChanged = answer;
  publishAnswer(value);
  restoreFocus(isChanged);
}

function publishAnswer(value) {
  answer = value;
  show(!answer);
  document.dispatchEvent(new CustomEvent("cms:consent", { detail: { granted: answer === "yes" } }));
}

// Return the focus to the button in the footer, or else to the content.
function restoreFocus(isChanged = true) {
  show(false);
  (isChanged && again ? again : document.getElementById("main"))?.focus({ preventScroll: true });
}

function show(isOpen) {
  bar.hidden = !isOpen;
  for (const choice of choices) choice.setAttribute("aria-pressed", String(choice.value === answer));
  if (!again) return;
  again.hidden = false;
  again.setAttribute("aria-expanded", String(isOpen));
}

function loadAnswer() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
