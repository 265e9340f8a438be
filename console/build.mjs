// Builds the console into the Python package, where the API and the local cloud serve it from.
// With --types only the types of the API are made, from its OpenAPI document.

import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "..");
const built = join(root, "src/duetime/console/built");
const types = join(here, "src/schema.d.ts");

execFileSync(
  process.execPath,
  [
    join(root, "node_modules/openapi-typescript/bin/cli.js"),
    join(root, "docs/openapi.json"),
    "--output",
    types,
  ],
  { stdio: ["ignore", "ignore", "inherit"] },
);
if (!process.argv.includes("--types")) {
  await makePage();
}

async function makePage() {
  await refuseTwoMeanings(join(here, "src/style"));
  await rm(built, { recursive: true, force: true });
  await mkdir(join(built, "assets"), { recursive: true });
  const result = await build({
    entryPoints: [join(here, "src/main.tsx")],
    outdir: join(built, "assets"),
    entryNames: "[name]-[hash]",
    bundle: true,
    format: "esm",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    metafile: true,
    logLevel: "warning",
  });
  const made = Object.keys(result.metafile.outputs).map((each) => basename(each));
  const named = (ending) => `assets/${made.find((each) => each.endsWith(ending))}`;
  const page = await readFile(join(here, "index.html"), "utf8");
  const filled = page.replace("{{style}}", named(".css")).replace("{{script}}", named(".js"));
  await copyFile(join(here, "mark.svg"), join(built, "assets/mark.svg"));
  await writeFile(join(built, "index.html"), filled);
  const bytes = Object.values(result.metafile.outputs).reduce((sum, each) => sum + each.bytes, 0);
  console.log(`the console: ${Math.round(bytes / 1024)} KB in ${join("src/duetime/console/built")}`);
}

/** A class that begins a selector belongs to one file, or two screens would dress each other. */
async function refuseTwoMeanings(styles) {
  const owners = new Map();
  for (const file of await readdir(styles)) {
    const text = (await readFile(join(styles, file), "utf8")).replace(/\/\*.*?\*\//gs, "");
    const selectors = [...text.matchAll(/([^{}]+)\{/g)].flatMap(([, each]) => each.split(","));
    for (const selector of selectors) {
      const name = /^\s*\.([a-z-]+)(?=[\s:[]*$)/.exec(selector)?.[1];
      if (!name) continue;
      const owner = owners.get(name) ?? file;
      if (owner !== file) throw new Error(`.${name} is dressed in ${owner} and in ${file}`);
      owners.set(name, file);
    }
  }
}
