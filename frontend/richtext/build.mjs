// Builds static/cms/vendor/richtext.js, and records what it was built from: `npm ci && npm run build`.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const vendor = join(here, "../../static/cms/vendor");
const bundle = join(vendor, "richtext.js");

const result = await build({
  entryPoints: [join(here, "src/index.js")],
  outfile: bundle,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
});

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) packages.add(found[1]);
}

function licence(name) {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${about.version} (${about.license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}

const texts = [...packages].sort().map(licence);
writeFileSync(join(vendor, "richtext.LICENSES.txt"), texts.join(`\n${"-".repeat(72)}\n\n`));

const digest = createHash("sha256");
const sources = readdirSync(join(here, "src")).sort().map((name) => join(here, "src", name));
for (const path of [join(here, "build.mjs"), join(here, "package-lock.json"), ...sources, bundle]) digest.update(readFileSync(path));
writeFileSync(join(here, "bundle.sha256"), `${digest.digest("hex")}\n`);
