// Reads `{texts, rules, vocabulary}` from standard input. Writes a list of
// `{text, line, rule, problem, message, suggestions}`, with the index of the text.
import { text as readAll } from "node:stream/consumers";
import { Dialect, LocalLinter } from "harper.js";
import { binary } from "harper.js/binary";

const { texts, rules, vocabulary } = JSON.parse(await readAll(process.stdin));
const linter = new LocalLinter({ binary, dialect: Dialect.British });
const config = await linter.getDefaultLintConfig();
const unknown = rules.filter((rule) => !(rule in config));
if (unknown.length) throw new Error(`harper has no rule ${unknown.join(", ")}`);
await linter.setLintConfig(
  Object.fromEntries(Object.keys(config).map((rule) => [rule, rules.includes(rule)])),
);
await linter.importWords(vocabulary);

// All texts at once: each call costs some milliseconds, and most messages are one sentence.
const starts = [];
let all = "";
for (const text of texts) {
  starts.push(all.length);
  all += `${text}\n\n`;
}
// Spans count characters, and strings of JavaScript count UTF-16 units.
const characters = Array.from(all);

function place(start) {
  const before = characters.slice(0, start).join("");
  const text = starts.findLastIndex((one) => one <= before.length);
  return { text, line: before.slice(starts[text]).split("\n").length };
}

const findings = [];
const byRule = await linter.organizedLints(all, { language: "markdown" });
for (const [rule, lints] of Object.entries(byRule)) {
  for (const lint of lints) {
    findings.push({
      ...place(lint.span().start),
      rule,
      problem: lint.get_problem_text(),
      message: lint.message(),
      suggestions: lint.suggestions().map((one) => one.get_replacement_text()),
    });
  }
}
process.stdout.write(JSON.stringify(findings));
