// Runs in the frame with the page: tests it with axe, and sends the result to the page of the admin around it.

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

async function test() {
  const { axe } = window;
  const { locale } = document.getElementById("accessibility-test").dataset;
  if (locale) axe.configure({ locale: await (await fetch(locale)).json() });
  // Pages of other sites in frames are not this site's to correct.
  const { violations } = await axe.run(document, { runOnly: RULES, iframes: false, preload: false, resultTypes: ["violations"] });
  const found = violations.map(({ id, impact, help, helpUrl, nodes }) => ({
    id, impact, help, helpUrl, nodes: nodes.map(({ target }) => ({ target: target.map(String) })),
  }));
  return { engine: `axe ${axe.version}`, violations: found };
}

const answer = await test().catch((error) => ({ error: String(error) }));
window.parent.postMessage({ accessibility: answer }, location.origin);
