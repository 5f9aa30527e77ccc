// Reads files with speedscope's importer. Prints as JSON the total weight and the unit of each file's first profile.
//
// Usage: node speedscope.js FOLDER_OF_ITS_RELEASE FILE...
//
// The package has its importer only inside its web page's script. That script runs here without a page: a stub stands
// in for every page object. Drawing then fails, which does not matter here.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, ...files] = process.argv.slice(2);
const script = fs.readdirSync(folder).find((name) => /^speedscope-\w+\.js$/.test(name));
const source = fs.readFileSync(path.join(folder, script), "utf8");
const importer =
  source.match(/async function (\w+)\((\w+),(\w+)\)\{return\(await \w+\)\.importProfilesFromArrayBuffer\(\2,\3\)\}/);
if (!importer) throw new Error("speedscope's importer is not where it was: look into its script");
const exposed = source.replace(importer[0], `${importer[0]}globalThis.importProfiles=${importer[1]};`);

const anything = new Proxy(function () {}, {
  get: (target, key) => (key === Symbol.toPrimitive ? () => "" : anything),
  set: () => true,
  apply: () => anything,
  construct: () => anything,
});
const page = vm.createContext({
  console: { log() {}, warn() {}, error() {} },
  TextDecoder, TextEncoder, setTimeout, clearTimeout, URL, atob, btoa, performance,
  document: anything,
  navigator: { platform: "", userAgent: "" },
  localStorage: anything,
  location: { hash: "", protocol: "file:" },
  matchMedia: () => anything,
  requestAnimationFrame: () => 0,
  addEventListener() {},
  HTMLElement: class {},
  HTMLCanvasElement: class {},
});
page.window = page.self = page;
try {
  vm.runInContext(exposed, page);
} catch (error) {
  if (!page.importProfiles) throw error;
}

async function main() {
  const totals = [];
  for (const file of files) {
    const bytes = fs.readFileSync(file);
    const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const group = await page.importProfiles(path.basename(file), copy);
    if (!group) throw new Error(`speedscope does not know what ${file} is`);
    totals.push({ weight: group.profiles[0].getTotalWeight(), unit: group.profiles[0].getWeightUnit() });
  }
  console.log(JSON.stringify(totals));
}

main().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
