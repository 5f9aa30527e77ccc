// Opens the guide in headless Chromium at the widths of a telephone and of a desk, and does what a reader does: nothing
// is wider than the page, the search finds, code can be copied, links lead somewhere, and the keyboard suffices.
//
// Usage: node site.mjs FOLDER     FOLDER: the built guide. ACRE_SCREENSHOTS=FOLDER keeps pictures there.
import { createServer } from 'node:http';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { launched } from '../tools/report/browser/browser.mjs';

const root = process.argv[2];
const screenshots = process.env.ACRE_SCREENSHOTS;
const kinds = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json',
  '.svg': 'image/svg+xml' };
const widths = [390, 1280];
// Pages whose pictures are kept, and which are also looked at in the dark.
const pictured = ['', 'start/', 'guide/object_pool/', 'guide/migrating/', 'guide/hooks/lua/',
  'reference/arenas/arena/'];

const faults = [];
let checks = 0;
function check(holds, sentence) {
  ++checks;
  if (!holds) faults.push(sentence);
}

async function pagesUnder(folder, prefix = '') {
  const found = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    if (entry.isDirectory()) found.push(...await pagesUnder(folder, `${prefix}${entry.name}/`));
    if (entry.name === 'index.html') found.push(prefix);
  }
  return found;
}

function serve() {
  const server = createServer(async (request, response) => {
    let path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    if (path.endsWith('/')) path += 'index.html';
    try {
      const content = await readFile(join(root, path));
      response.writeHead(200, { 'content-type': kinds[extname(path)] ?? 'application/octet-stream' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

// One load for both widths.
async function checkPage(page, address, name) {
  await page.goto(address + name, { waitUntil: 'domcontentloaded' });
  for (const width of widths) {
    await page.setViewportSize({ width, height: 844 });
    // The scripts of the page move its parts when the width changes.
    await page.waitForFunction(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth, null,
      { timeout: 3000 }).catch(() => {});
    const { wide, words } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      words: document.querySelector('article')?.textContent.trim().length ?? 0,
    }));
    check(wide <= 0, `${name} at ${width}: ${wide} pixels wider than the page`);
    check(words > 40, `${name}: has no text`);
  }
}

async function checkPages(browser, address, names) {
  const context = await browser.newContext({ javaScriptEnabled: true });
  // The search reads a megabyte for each page.
  await context.route(/search/, (route) => route.abort());
  const half = Math.ceil(names.length / 2);
  await Promise.all([names.slice(0, half), names.slice(half)].map(async (some) => {
    const page = await context.newPage();
    for (const name of some) await checkPage(page, address, name);
  }));
  await context.close();
}

async function linksOf(page) {
  return page.evaluate(() => [...document.querySelectorAll('a[href]')].map((each) => each.href?.baseVal ?? each.href)
    .map((each) => new URL(each, location.href).href).filter((each) => each.startsWith(location.origin)));
}

async function checkLinks(page, address, names) {
  const known = new Map();
  for (const name of names) {
    const text = await readFile(join(root, name, 'index.html'), 'utf8');
    known.set(name, new Set([...text.matchAll(/ id="?([^"\s>]+)/g)].map((each) => each[1])));
  }
  for (const name of ['', 'start/']) {
    await page.goto(address + name, { waitUntil: 'domcontentloaded' });
    for (const link of await linksOf(page)) {
      const target = new URL(link);
      const to = target.pathname.slice(1);
      check(known.has(to), `${name || 'the first page'}: ${link} leads nowhere`);
      if (target.hash && known.has(to)) {
        check(known.get(to).has(decodeURIComponent(target.hash.slice(1))),
          `${name || 'the first page'}: ${link} has no such place`);
      }
    }
  }
}

async function checkSearch(page, address, width) {
  await page.goto(address, { waitUntil: 'load' });
  if (width < 960) await page.click('label.md-header__button[for="__search"]');
  else await page.keyboard.press('/');
  await page.waitForTimeout(300);
  await page.keyboard.type('object_pool');
  const result = page.locator('.md-search-result__link').first();
  await result.waitFor({ state: 'visible', timeout: 10000 }).catch(() => {});
  check(await result.count() > 0, `the search at ${width} finds no object_pool`);
  if (await result.count() === 0) return;
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?h=|pool/, { timeout: 10000 }).catch(() => {});
  check(/pool/.test(page.url()), `the first result at ${width} is ${page.url()}`);
}

async function checkCopy(context, page, address) {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${address}start/`, { waitUntil: 'load' });
  const buttons = page.locator('.md-clipboard, .md-code__button[data-clipboard-target]');
  await buttons.first().waitFor({ state: 'attached', timeout: 10000 }).catch(() => {});
  const blocks = await page.locator('article pre > code').count();
  check(await buttons.count() >= blocks && blocks > 0,
    `${await buttons.count()} buttons to copy ${blocks} pieces of code`);
  await page.locator('article pre').first().hover();
  await buttons.first().click();
  check((await page.evaluate(() => navigator.clipboard.readText())).includes('add_subdirectory'),
    'what was copied is not the code');
}

// From the first key on: the way past the navigation, the search, and the links in the picture.
async function checkKeyboard(page, address) {
  await page.goto(address, { waitUntil: 'load' });
  await page.keyboard.press('Tab');
  check(await page.evaluate(() => document.activeElement?.classList.contains('md-skip')),
    'the first key does not lead past the navigation');
  const reached = new Set();
  for (let presses = 0; presses < 150; ++presses) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => {
      const at = document.activeElement;
      return at?.closest('svg.acre-choices') ? 'picture' : at?.closest('.md-search') ? 'search'
        : at?.closest('.md-tabs') ? 'tabs' : 'other';
    }));
  }
  for (const place of ['picture', 'search', 'tabs']) check(reached.has(place), `the keyboard does not reach: ${place}`);
}

// The letters of the picture on a telephone, and that it has the page's colours in the dark.
async function checkPicture(page, address, width) {
  await page.goto(address, { waitUntil: 'load' });
  const smallest = await page.evaluate(
    () => Math.min(...[...document.querySelectorAll('svg.acre-choices text')].map(
      (each) => each.getBoundingClientRect().height)));
  // A browser scales them to a fraction of a pixel.
  check(smallest > 10.9, `letters of the picture are ${smallest} pixels high at ${width}`);
  const wide = await page.evaluate(() => {
    const frame = document.querySelector('svg.acre-choices').getBoundingClientRect();
    return Math.max(...[...document.querySelectorAll('svg.acre-choices text')].map(
      (each) => each.getBoundingClientRect().right - frame.right));
  });
  check(wide <= 0, `text of the picture ends ${wide} pixels behind it at ${width}`);
  const outside = await page.evaluate(() => {
    const right = document.querySelector('svg.acre-choices rect').getBoundingClientRect().right;
    return [...document.querySelectorAll('.question, .meant')].filter(
      (each) => each.getBoundingClientRect().right > right - 4).map((each) => each.textContent);
  });
  check(outside.length === 0, `text of the picture does not fit its box at ${width}: ${outside}`);
}

async function contrastInTheDark(browser, address) {
  const context = await browser.newContext({ colorScheme: 'dark' });
  const page = await context.newPage();
  await page.goto(address, { waitUntil: 'load' });
  await page.locator('body[data-md-color-scheme="slate"]').waitFor({ timeout: 10000 }).catch(() => {});
  const [text, ground] = await page.evaluate(() => [
    getComputedStyle(document.querySelector('svg.acre-choices .question')).fill,
    getComputedStyle(document.querySelector('svg.acre-choices rect')).fill]);
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
    return 0.3 * r + 0.6 * g + 0.1 * b;
  };
  check(light(text) - light(ground) > 100, `in the dark the picture's text is ${text} on ${ground}`);
  await context.close();
}

async function takePictures(browser, address, width) {
  if (!screenshots) return;
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
    const page = await context.newPage();
    for (const name of pictured) {
      await page.goto(address + name, { waitUntil: 'load' });
      await page.waitForTimeout(300);
      await page.screenshot(
        { path: join(screenshots, `${name.replaceAll('/', '_') || 'first_'}${width}_${colorScheme}.png`) });
    }
    await context.close();
  }
}

const names = (await pagesUnder(root)).sort();
const server = await serve();
const address = `http://127.0.0.1:${server.address().port}/`;
const browser = await launched();
await checkPages(browser, address, names);
await contrastInTheDark(browser, address);
for (const width of widths) {
  const context = await browser.newContext({ viewport: { width, height: 844 } });
  const page = await context.newPage();
  page.on('console', (said) => { if (said.type() === 'error') faults.push(`${page.url()}: ${said.text()}`); });
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !/^(data|blob):/.test(url)) faults.push(`asks the network for ${url}`);
  });
  await checkPicture(page, address, width);
  await checkSearch(page, address, width);
  if (width >= 960) {
    await checkLinks(page, address, names);
    await checkKeyboard(page, address);
    await checkCopy(context, page, address);
  }
  await takePictures(browser, address, width);
  await context.close();
}
await browser.close();
server.close();
for (const each of faults) console.log(each);
console.log(`${names.length} pages at ${widths.join(' and ')} pixels: ${checks} checks, ${faults.length} faults`);
process.exit(faults.length === 0 && names.length > 100 ? 0 : 1);
