// Measures how long pages take to open in headless Chromium: from the start of the navigation to the end of the
// scripts, and to the first frame that was drawn after them. Once each as it is, and with a processor four times
// slower.
//
// Usage: ACRE_CHROMIUM=/usr/bin/chromium node opening.mjs PAGE.html...
import { statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { launched } from './browser.mjs';

const openings = 7;
const slower = 4;

// In ms since the start of the navigation. A frame is on the screen when the callback of the one after it runs.
async function opening(page) {
  return page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const { domContentLoadedEventEnd, loadEventEnd } = performance.getEntriesByType('navigation')[0];
      resolve({ scripts: domContentLoadedEventEnd, loaded: loadEventEnd, drawn: performance.now() });
    }));
  }));
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(browser, url, slowdown) {
  const times = [];
  for (let i = 0; i < openings; ++i) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await page.goto(url, { waitUntil: 'commit' });
    await page.waitForLoadState('domcontentloaded');
    times.push(await opening(page));
    await context.close();
  }
  const of = (key) => Math.round(median(times.map((each) => each[key])));
  return `scripts done after ${of('scripts')} ms, drawn after ${of('drawn')} ms`;
}

const browser = await launched();
for (const file of process.argv.slice(2)) {
  const url = pathToFileURL(path.resolve(file)).href;
  console.log(`${path.basename(file)}, ${Math.round(statSync(file).size / 1024)} KiB, median of ${openings}:`);
  console.log(`  ${await measure(browser, url, 1)}`);
  console.log(`  processor ${slower} times slower: ${await measure(browser, url, slower)}`);
}
await browser.close();
