// Lints an OpenAPI document with Redocly and Spectral: `node lint.mjs openapi.json`. Prints each finding; 1 if there are any.

import { readFileSync } from "node:fs";
import { lint, loadConfig } from "@redocly/openapi-core";
import spectralCore from "@stoplight/spectral-core";
import parsers from "@stoplight/spectral-parsers";
import rulesets from "@stoplight/spectral-rulesets";

const [path] = process.argv.slice(2);
const config = await loadConfig({ configPath: new URL("redocly.yaml", import.meta.url).pathname });
const findings = (await lint({ ref: path, config })).map(
  ({ ruleId, message, location }) => `redocly ${ruleId} ${location[0]?.pointer}: ${message}`,
);

const spectral = new spectralCore.Spectral();
spectral.setRuleset({
  extends: [[rulesets.oas, "recommended"]],
  // Each site serves the document itself, so it names no server and no contact.
  rules: { "oas3-api-servers": "off", "info-contact": "off" },
});
const document = new spectralCore.Document(readFileSync(path, "utf8"), parsers.Json, path);
for (const { code, message, path: place } of await spectral.run(document)) {
  findings.push(`spectral ${code} #/${place.join("/")}: ${message}`);
}

console.log(findings.join("\n"));
process.exitCode = findings.length ? 1 : 0;
