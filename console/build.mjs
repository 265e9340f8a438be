// Builds the console into the Python package, where the API and the local cloud serve it from.
// With --types only types are made: those of the API, from its OpenAPI document, and those of the words.

import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The most that the browser loads before it shows a screen, gzipped, without a language: in bytes. */
const MOST = 90_000;

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "..");
const built = join(root, "src/duetime/console/built");
const source = join(here, "src");
const types = join(source, "schema.d.ts");

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
await nameParts();
if (!process.argv.includes("--types")) {
  await makePage();
}

async function makePage() {
  await refuseTwoMeanings(join(here, "src/style"));
  await rm(built, { recursive: true, force: true });
  await mkdir(join(built, "assets"), { recursive: true });
  const translated = (await readdir(join(source, "languages"))).map((file) => basename(file, ".ts"));
  const result = await build({
    entryPoints: [join(here, "src/main.tsx")],
    outdir: join(built, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    define: { TRANSLATED: JSON.stringify(translated) },
    format: "esm",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    metafile: true,
    banner: { js: "/* The licences of what is in here: licences.txt */" },
    logLevel: "warning",
  });
  const { outputs } = result.metafile;
  const [script] = Object.keys(outputs).filter((file) => outputs[file].entryPoint?.endsWith("main.tsx"));
  const asset = (file) => `assets/${basename(file)}`;
  const preloaded = [...loadedWith(script, outputs)].filter((file) => file !== script);
  const page = await readFile(join(here, "index.html"), "utf8");
  const filled = page
    .replace("{{style}}", asset(outputs[script].cssBundle))
    .replace("{{script}}", asset(script))
    .replace(
      "{{preloads}}",
      preloaded.map((file) => `<link rel="modulepreload" href="${asset(file)}" />`).join(""),
    );
  await copyFile(join(here, "mark.svg"), join(built, "assets/mark.svg"));
  await writeFile(join(built, "index.html"), filled);
  await writeFile(join(built, "assets/licences.txt"), await licences(Object.keys(result.metafile.inputs)));
  await weigh(script, outputs);
}

/** A file of the page, and those that it imports before it runs. */
function loadedWith(file, outputs, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const { path, kind } of outputs[file].imports) {
    if (kind === "import-statement") loadedWith(path, outputs, found);
  }
  return found;
}

/** Print what the lightest and the heaviest screen weigh, with the sign-in; fail if one weighs too much. */
async function weigh(script, outputs) {
  const weights = new Map();
  for (const file of Object.keys(outputs))
    weights.set(file, gzipSync(await readFile(file), { level: 9 }).length);
  const files = Object.keys(outputs);
  const isFrom = (folder) => (file) => outputs[file].entryPoint?.startsWith(folder);
  const always = [script, outputs[script].cssBundle, ...files.filter(isFrom("console/src/session"))];
  const screens = files.filter(isFrom("console/src/screens/")).map((screen) => {
    const found = new Set();
    for (const file of [...always, screen]) loadedWith(file, outputs, found);
    const bytes = [...found].reduce((sum, file) => sum + weights.get(file), 0);
    return { name: basename(outputs[screen].entryPoint, ".tsx"), bytes };
  });
  const languages = files.filter(isFrom("console/src/languages/")).map((file) => weights.get(file));
  const kilobytes = (bytes) => (bytes / 1000).toFixed(1);
  const sizes = screens.map(({ bytes }) => bytes);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)].map(kilobytes);
  console.log(
    `built the console: ${least} to ${most} KB gzipped a screen, ${languages.map(kilobytes)} a language`,
  );
  const heavy = screens.filter(({ bytes }) => bytes > MOST);
  if (heavy.length > 0)
    throw new Error(`these weigh over ${kilobytes(MOST)} KB: ${heavy.map((s) => s.name)}`);
}

/** List each table of English words: a language without one of its keys is then an error of types. */
async function nameParts() {
  const files = (await readdir(source, { recursive: true })).filter((file) => /\.tsx?$/.test(file)).sort();
  const parts = [];
  for (const file of files) {
    const module = file.replace(/\.tsx?$/, "");
    const text = await readFile(join(source, file), "utf8");
    for (const [, name, part] of text.matchAll(/^export const (\w+) = words\("([^"]+)"/gm)) {
      const home = module.replace(/\.words$/, "");
      if (part !== home && part !== `${home}.${name}`) {
        throw new Error(`${file}: name its words "${home}" or "${home}.${name}", not "${part}"`);
      }
      parts.push(`  "${part}": (typeof import("../${module}"))["${name}"];`);
    }
  }
  await writeFile(join(source, "words/parts.d.ts"), `export interface Parts {\n${parts.join("\n")}\n}\n`);
}

/** The notice of each package that the page carries: their licences ask that it goes with every copy. */
async function licences(inputs) {
  const carried = new Set(
    inputs.flatMap((each) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(each)?.[1] ?? []),
  );
  const notices = [...carried].sort().map(async (name) => {
    const home = join(root, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
    const file = (await readdir(home)).find((each) => /^licen[cs]e/i.test(each));
    if (!file) throw new Error(`${name} is in the page, and has no licence that could go with it`);
    return `${name} ${version} (${license})\n\n${(await readFile(join(home, file), "utf8")).trim()}\n`;
  });
  return (await Promise.all(notices)).join(`\n${"-".repeat(72)}\n\n`);
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
