// Loads a DHAT file into valgrind's viewer. Prints as JSON the totals at the root of the viewer's tree, and the length
// of the text that it shows for each of its sort metrics.
//
// Usage: node dh_view.js DH_VIEW.JS FILE
"use strict";
const fs = require("fs");
const vm = require("vm");

// The part of a page's DOM that the viewer uses: it stores what the viewer inserts.
class Element {
  constructor() {
    this.children = [];
    this.text = "";
    this.classList = { add() {}, remove() {}, contains: () => false };
  }
  appendChild(child) {
    child.parentNode = this;
    this.children.push(child);
    return child;
  }
  replaceChild(fresh, old) {
    this.children[this.children.indexOf(old)] = fresh;
    fresh.parentNode = this;
  }
  get childNodes() { return this.children; }
  cloneNode() { return new Element(); }
  get textContent() { return this.text + this.children.map((child) => child.textContent).join(""); }
  set textContent(text) { this.text = text; }
}

const document = {
  body: new Element(),
  location: { search: "" },
  createElement: () => new Element(),
  createTextNode: (text) => Object.assign(new Element(), { text }),
};

const check = `
  onLoad();
  gSelect.selectedIndex = 0;
  gFilename = "a file";
  gData = JSON.parse(content);
  buildTree();
  const shown = [];
  for (let i = 0; i < gSelectData.length; ++i) {
    if (!gSelectData[i].enable(gData.bklt, gData.bkacc)) continue;
    gSelect.selectedIndex = i;
    displayTree();
    shown.push(gMainDiv.textContent.length);
  }
  JSON.stringify({
    total: [gRoot._totalBlocks, gRoot._totalBytes],
    peak: [gRoot._atTGmaxBlocks, gRoot._atTGmaxBytes],
    end: [gRoot._atTEndBlocks, gRoot._atTEndBytes],
    shown,
    text: gMainDiv.textContent.slice(0, 2000),
  });`;

const [viewer, file] = process.argv.slice(2);
const content = fs.readFileSync(file, "utf8");
const page = vm.createContext({ document, content, performance, URLSearchParams, console });
// Viewer and check form one script, so that the check sees the viewer's own variables.
console.log(vm.runInContext(fs.readFileSync(viewer, "utf8") + check, page));
