// Uses the page of a report in headless Chromium: looks, clicks, types, searches, copies, prints.
//
// Environment: ACRE_REPORTS (a folder with the pages), ACRE_CHROMIUM, and ACRE_SCREENSHOTS (a folder for pictures;
// without it none are taken).
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { launched } from './browser.mjs';
import { contrast_problems, overlapping_texts, overflowing } from './looks.mjs';

const reports = process.env.ACRE_REPORTS;
const all_reports = ['server', 'server_measured', 'hostile', 'one_event', 'empty', 'sampled', 'without_free_stacks',
  'random',
  'truncated', 'large', 'no_frees', 'many_threads', 'long_names'];
const looked_at_closely = ['server_measured', 'hostile', 'random', 'large', 'no_frees', 'many_threads', 'long_names'];
const wide = { width: 1200, height: 900 };
const narrow = { width: 360, height: 700 };
const in_the_middle = { width: 400, height: 800 };

let browser;
let context;
let page;
let said; // what the page wrote to its console or requested

// Opens a page and records its messages and requests; there should be none.
async function open(name, options = {}) {
  context = await browser.newContext({ viewport: wide, colorScheme: 'light', ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  page = await context.newPage();
  said = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => { said.push('a dialog'); dialog.dismiss(); });
  const url = pathToFileURL(path.join(reports, `${name}.html`)).href;
  page.on('request', (request) => { if (request.url() !== url) said.push(`request: ${request.url()}`); });
  await page.goto(url);
}

// From the start of the loading to the end of the scripts, in ms.
const opening_time = () => page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd);

async function picture(name) {
  if (process.env.ACRE_SCREENSHOTS)
    await page.screenshot({ path: path.join(process.env.ACRE_SCREENSHOTS, `${name}.png`), fullPage: true });
}

function looks_of(name) {
  const light = ['light', {}];
  return looked_at_closely.includes(name) ? [light, ['dark', { colorScheme: 'dark' }], ['narrow', { viewport: narrow }],
    ['400', { viewport: in_the_middle }]] : [light];
}

const text_of = (selector) => page.locator(selector).first().textContent();
const current_box = () => page.locator('.flame').getAttribute('aria-activedescendant')
  .then((id) => page.locator(`[id="${id}"]`).getAttribute('aria-label'));

before(async () => {
  browser = await launched();
});
after(() => browser?.close());
beforeEach(() => { said = []; });
afterEach(async () => {
  await context?.close();
  context = undefined;
  assert.deepEqual(said, [], 'the page wrote to its console or requested something');
});

describe('every report', () => {
  for (const name of all_reports) {
    it(`opens: ${name}`, async () => {
      await open(name);
      console.log(`# ${name} opened in ${Math.round(await opening_time())} ms`);
      for (const id of ['run', 'advice', 'time', 'flames', 'sizes', 'lifetimes', 'replay', 'sites']) {
        assert.equal(await page.locator(`section#${id} h2`).count(), 1, id);
      }
      assert.equal(await page.locator('#live svg').count(), 1);
      assert.equal(await page.locator('#rate svg').count(), 1);
      assert.equal(await page.locator('#size-plot svg').count(), 1);
      assert.equal(await page.locator('#lifetime-plot svg').count(), 1);
      assert.ok(await page.locator('.flame [role=treeitem]').count() >= 1);
      assert.ok(await page.locator('#facts dd').count() >= 8);
      const text = await page.locator('main').innerText();
      for (const word of ['undefined', 'NaN', 'Infinity', '[object']) assert.ok(!text.includes(word), word);
      const shapes = await page.evaluate(() => [...document.querySelectorAll('svg *')]
        .flatMap((each) => [...each.attributes]).filter((each) => /NaN|Infinity|undefined/.test(each.value)).length);
      assert.equal(shapes, 0, 'shapes without a position');
    });

    for (const [looks, options] of looks_of(name)) {
      it(`can be read in ${looks}: ${name}`, async () => {
        await open(name, options);
        assert.deepEqual(await page.evaluate(contrast_problems), []);
        assert.deepEqual(await page.evaluate(overlapping_texts), []);
        assert.deepEqual(await page.evaluate(overflowing), []);
        await picture(`${name}-${looks}`);
      });
    }
  }
});

describe('hostile names', () => {
  it('are shown as text', async () => {
    await open('hostile');
    await page.waitForTimeout(200);
    assert.ok((await page.title()).startsWith('acre report: '));
    assert.equal(await page.locator('img, iframe, object, embed, link').count(), 0);
    assert.equal(await page.locator('script').count(), 2);
    assert.ok((await text_of('#command')).includes("<img src=x onerror=document.title='taken'>"));
    assert.ok((await text_of('.flame')).includes('<img src=x onerror'));
    assert.ok((await text_of('#scopes')).includes('<img'));
    await page.locator('#flame-table summary').click();
    await page.locator('#scopes summary').click();
    assert.equal(await page.locator('img').count(), 0);
  });

  it('run nothing even as markup: the policy of the page forbids it', async () => {
    await open('server');
    const ran = await page.evaluate(async () => {
      document.body.insertAdjacentHTML(
        'beforeend', '<img src="x" onerror="window.taken = true"><svg onload="window.taken = true"></svg>');
      const script = document.createElement('script');
      script.textContent = 'window.taken = true';
      document.body.append(script);
      await new Promise((resolve) => { setTimeout(resolve, 200); });
      return window.taken === true;
    });
    assert.equal(ran, false);
    // The browser reports the picture that the policy forbids as a request, though it reads nothing.
    assert.ok(said.length > 0 && said.every((each) => /Content Security Policy|^request: .*\/x$/.test(each)),
      said.join('; '));
    said = [];
  });
});

describe('what a trace lacks', () => {
  it('is said of one that was cut off', async () => {
    await open('truncated');
    assert.match(await text_of('#notices'), /incomplete: .*65,536 events are complete/);
    assert.match(await text_of('#facts'), /frees may be in the missing part/);
  });
  it('is said of samples', async () => {
    await open('sampled');
    assert.match(await text_of('#notices'), /One allocation in 512 was recorded/);
  });
  it('is said of frees without stacks', async () => {
    await open('without_free_stacks');
    assert.match(await text_of('#notices'), /no stacks at frees/);
  });
  it('is said of a pause', async () => {
    await open('server');
    assert.match(await text_of('#notices'), /paused/);
    assert.ok(await page.locator('#live .pause').count() === 1);
  });
  it('is said where nothing was measured', async () => {
    await open('server');
    assert.match(await text_of('#advice-intro'), /Nothing was measured/);
    assert.match(await text_of('#replay-plot'), /--no-measure/);
  });
});

describe('the advice', () => {
  it('has a table that leads to each, and evidence to unfold', async () => {
    await open('server_measured');
    const rows = await page.locator('#advice-table tbody tr').count();
    assert.equal(rows, await page.locator('article.advice').count());
    assert.ok(rows >= 2);
    await page.locator('#advice-table a').nth(1).click();
    assert.ok(page.url().endsWith('#advice-2'));
    await page.locator('#advice-2 summary').click();
    assert.match(await text_of('#advice-2 details'), /peak of live objects/);
  });

  it('is code that a button copies', async () => {
    await open('server');
    const button = page.locator('article .copy').first();
    await button.click();
    await page.locator('article .copy', { hasText: 'Copied' }).first().waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, await text_of('article pre'));
    assert.match(copied, /acre::/);
  });

  it('keeps each column of its table in sight on a telephone', async () => {
    await open('server_measured', { viewport: { width: 390, height: 800 } });
    const saves = page.locator('#advice-table td[data-head=saves]').first();
    assert.ok(await saves.isVisible());
    for (const table of await page.locator('.scroll:visible').all()) {
      const [needed, given] = await table.evaluate((each) => [each.scrollWidth, each.clientWidth]);
      assert.ok(needed <= given, `${await table.getAttribute('aria-label')}: ${needed} px in ${given}`);
    }
  });

  it('can be copied by hand where there is no clipboard', async () => {
    await open('server');
    await page.evaluate(() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); });
    await page.locator('article .copy').first().click();
    await page.locator('article .copy', { hasText: 'Ctrl+C' }).first().waitFor();
    assert.equal(await page.evaluate(() => getSelection().toString().trim()), (await text_of('article pre')).trim());
  });

  it('begins with what to do first', async () => {
    await open('server_measured');
    assert.match(await text_of('#advice-answer p'),
      /^(First|Perhaps|Nothing below|Leave the program|What can be saved)/);
    await open('server');
    assert.equal(await page.locator('#advice-answer p').count(), 0);
  });

  it('has what a malloc saves without a change', async () => {
    await open('server_measured');
    assert.match(await text_of('#advice-preloads table'), /saves, in a replay.*acre run/s);
  });

  it('has savings of runs where the program was run again', async () => {
    await open('program_run');
    assert.match(await text_of('#advice-intro'),
      /The program was run again, [0-9,]+ times? in each way: it takes .* of CPU time/);
    assert.match(await text_of('#advice-preloads caption'), /in runs of it$/);
    assert.match(await text_of('#advice-preloads table'), /acre run.* times/s);
  });

  it('has savings where it was measured', async () => {
    await open('server_measured');
    assert.match(await text_of('#advice-intro'), /take .* with malloc/);
    assert.ok((await page.locator('#replay-plot svg').count()) === 2);
    assert.match(await page.locator('#replay-plot svg').first().getAttribute('aria-label'), /system 1\.00/);
  });
});

describe('the plots over time', () => {
  it('tell the moment that is pointed at, all of them', async () => {
    await open('server');
    await page.locator('#live svg').hover();
    assert.match(await text_of('#moment'), /live; .* allocation/);
    assert.equal(await page.locator('#time .moment:not(.absent)').count(), await page.locator('#time svg').count());
  });

  it('are gone through by the arrow keys', async () => {
    await open('server');
    await page.locator('#live .plot').focus();
    await page.keyboard.press('ArrowRight');
    assert.match(await text_of('#moment'), /^0\sns to /);
    const first = await text_of('#moment');
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await text_of('#moment'), first);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await text_of('#moment'), first);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    assert.match(await text_of('#moment'), /live/);
    await page.keyboard.press('Escape');
    assert.equal(await text_of('#moment'), 'No moment is selected.');
  });

  it('show another rate', async () => {
    await open('server');
    const label = () => page.locator('#rate svg').getAttribute('aria-label');
    assert.match(await label(), /Rate of allocations/);
    await page.getByLabel('frees', { exact: true }).check();
    assert.match(await label(), /Rate of frees/);
  });

  it('have scopes and generations as bands', async () => {
    await open('server');
    assert.match(await page.locator('#scopes svg').getAttribute('aria-label'), /thread 0: request 2,000 times/);
    assert.ok(await page.locator('#scopes .band').count() > 50);
    assert.match(await page.locator('#generations svg').getAttribute('aria-label'), /thread 1: request 1,000 times/);
  });

  it('have a table', async () => {
    await open('server');
    await page.locator('#live summary').click();
    await page.locator('#live tbody tr').first().waitFor();
    const rows = await page.locator('#live tbody tr').count();
    assert.ok(rows >= 20 && rows <= 40, `${rows} rows`);
  });
});

describe('the histograms', () => {
  it('tell a bar by click and by key', async () => {
    await open('server');
    await page.locator('#size-plot .target').first().click();
    const first = await text_of('#size-plot .readout');
    assert.match(first, /object.*%.*%/);
    await page.locator('#size-plot .plot').focus();
    await page.keyboard.press('End');
    assert.notEqual(await text_of('#size-plot .readout'), first);
  });

  it('have each label where its bar begins', async () => {
    await open('server');
    const found = await page.evaluate(() => {
      const svg = document.querySelector('#size-plot svg');
      const edges = [...svg.querySelectorAll('.target')].map((each) => Number(each.getAttribute('x')));
      return [...svg.querySelectorAll('text[text-anchor=middle]')].map(
        (each) => edges.includes(Number(each.getAttribute('x'))));
    });
    assert.ok(found.length > 0 && found.every((each) => each));
    assert.match(await text_of('#size-plot figcaption'), /lower bound/);
  });

  it('change clock and weight', async () => {
    await open('server');
    const label = () => page.locator('#lifetime-plot svg').getAttribute('aria-label');
    const before_change = await label();
    await page.locator('#lifetime-plot').getByLabel('allocations', { exact: true }).check();
    assert.match(await label(), /alloc\./);
    assert.notEqual(await label(), before_change);
    await page.locator('#lifetime-plot').getByLabel('bytes', { exact: true }).check();
    assert.match(await label(), /, bytes: /);
  });
});

describe('the flame graph', () => {
  it('zooms by click and back by Escape', async () => {
    await open('server');
    const all = await page.locator('.flame .box').count();
    await page.locator('.flame .box', { hasText: /^request/ }).first().click();
    assert.match(await current_box(), /^request: /);
    assert.ok(await page.locator('.flame .above').count() >= 3);
    assert.ok(await page.locator('.flame .box').count() < all);
    const box = await page.locator('.flame .current rect').boundingBox();
    assert.ok(box.width > 1000, `${box.width} px wide`);
    await page.keyboard.press('Escape');
    assert.match(await current_box(), /^serve: /);
    await page.locator('#flame-whole').click();
    assert.equal(await page.locator('.flame .box').count(), all);
  });

  it('is gone through by keys alone', async () => {
    await open('server');
    await page.locator('#flame-whole').focus();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('role')), 'tree');
    assert.match(await current_box(), /^the whole program: .*100\.0\s%/);
    await page.keyboard.press('ArrowDown');
    assert.match(await current_box(), /^main: /);
    await page.keyboard.press('ArrowDown');
    const first = await current_box();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await current_box(), first);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await current_box(), first);
    await page.keyboard.press('Enter');
    assert.ok(await page.locator('.flame .above').count() === 2);
    await page.keyboard.press('ArrowUp');
    assert.match(await current_box(), /^main: /);
    await page.keyboard.press('Home');
    assert.equal(await page.locator('.flame .above').count(), 0);
  });

  it('finds functions', async () => {
    await open('server');
    await page.locator('#flame-search').fill('REQUEST');
    assert.ok(await page.locator('.flame .match').count() >= 1);
    assert.match(await text_of('#flame-graph .readout'), /boxe?s? found, with \d+\.\d\s% of all/);
    await page.locator('#flame-search').fill('nothing like this');
    assert.equal(await text_of('#flame-graph .readout'), 'No function has this name.');
    await page.locator('#flame-search').press('Escape');
    assert.equal(await page.locator('#flame-search').inputValue(), '');
  });

  it('shows each weight, in the table too', async () => {
    await open('server');
    await page.locator('#flame-table summary').click();
    for (const [label, unit] of [['allocations', /allocation/], ['lifetime', /s\s/], ['live at the peak', /B/],
      ['never freed', /B/], ['bytes allocated', /B/]]) {
      await page.locator('#flame-controls').getByLabel(label, { exact: true }).check();
      assert.match(await current_box(), unit);
    }
    await page.locator('#flame-table tbody tr').nth(4).waitFor();
  });

  it('draws no more than it can', async () => {
    await open('large');
    assert.ok(await page.locator('.flame .box').count() <= 3000);
  });
});

describe('the sizes that fit', () => {
  it('are a front, a table and code', async () => {
    await open('server_measured');
    const given = page.locator('#fit .fit').first();
    assert.match(await given.textContent(), /For what is allocated through request <b>: 48,000 allocations/);
    assert.equal(await given.locator('circle').count(), 5);
    assert.equal(await given.locator('circle.base').count(), 1);
    assert.match(await given.locator('svg').getAttribute('aria-label'), /5 arenas of 1\sKiB, 5\.16\sKiB in all/);
    assert.match(await given.locator('pre').textContent(), /acre::multi_arena/);
    assert.match(await given.locator('table').first().innerText(), /5\s+1,024\s+5\.16\sKiB\s+x 3\.91\s+least memory/);
  });

  it('are found for the advices without being asked for, and checked', async () => {
    await open('server');
    const fits = page.locator('#fit .fit');
    assert.equal(await fits.count(), 2);
    assert.match(await fits.nth(0).textContent(),
      /^For advice 1: .*request.*, in thread 0, which has the most live bytes: 32,000 allocations/);
    assert.equal(await fits.locator('pre').count(), 0); // of a multi_arena, which is not recommended
    assert.match(await fits.nth(0).textContent(),
      /An arena, by how it is used.*all generations1,376checked: enough, one less is not/);
    await fits.nth(1).locator('a').first().click();
    assert.ok(page.url().endsWith('#advice-2'));
  });

  it('are left out where there are none', async () => {
    await open('sampled');
    assert.equal(await page.locator('#fit').count(), 0);
    assert.equal(await page.locator('nav a', { hasText: 'Sizes that fit' }).count(), 0);
  });
});

describe('a page of much', () => {
  it('shows no more lanes and threads than can be looked at, and says how many there are', async () => {
    await open('many_threads');
    assert.match(await text_of('#facts'), /200 threads/);
    assert.match(await text_of('#scopes'), /176 more lanes are not shown/);
    assert.ok(await page.locator('#thread-table tbody tr').count() <= 32);
    assert.match(await text_of('#thread-table'), /168 more threads are not shown/);
  });

  it('keeps long names out of the way', async () => {
    await open('long_names');
    assert.ok((await page.locator('h3').allTextContents()).every((text) => text.length < 400));
    await page.locator('.flame').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.match(await text_of('#flame-graph .readout >> nth=1'), /In full: company::product/);
    assert.ok(await page.evaluate(() => document.body.scrollHeight) < 40_000);
  });

  it('shortens names at their template arguments, not at the name of the function', async () => {
    await open('long_names');
    assert.match(await text_of('#site-table tbody th'),
      /visit_each_of_them<std::map<.*…>+\(std::map<.*…>+&&\) \(handler_/);
  });

  it('says where a long command line goes on, and goes on when it is asked to', async () => {
    await open('long_names');
    const height = () => page.evaluate(() => document.getElementById('command').clientHeight);
    const folded = await height();
    assert.ok(folded > 20 && folded < 120, `${folded} px high`);
    const lines = await page.evaluate(
      () => getComputedStyle(document.querySelector('#command summary')).webkitLineClamp);
    assert.equal(lines, '4');
    await page.locator('#command summary').focus();
    await page.keyboard.press('Enter');
    assert.ok(await height() > folded * 2, `${await height()} px high`);
  });
});

describe('the page as a whole', () => {
  it('is gone through by Tab, and the focus can be seen', async () => {
    await open('server');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'report');
    const seen = new Set();
    for (let i = 0; i < 200; ++i) {
      await page.keyboard.press('Tab');
      const where = await page.evaluate(() => {
        const { activeElement } = document;
        if (activeElement === document.body) return null;
        const { outlineStyle, outlineWidth } = getComputedStyle(activeElement);
        const name = activeElement.getAttribute('aria-label') || activeElement.textContent ||
          activeElement.labels?.[0]?.textContent;
        const visible = outlineStyle !== 'none' && outlineWidth !== '0px';
        return { visible, name, part: activeElement.closest('section')?.id };
      });
      if (where === null) break;
      assert.ok(where.visible, `no focus to be seen at ${where.name}`);
      assert.ok(where.name, `something without a name in ${where.part}`);
      seen.add(where.part);
    }
    for (const part of ['advice', 'time', 'flames', 'sizes', 'lifetimes', 'sites']) assert.ok(seen.has(part), part);
  });

  it('has headings in order and a name for each part', async () => {
    await open('server_measured');
    const levels = await page.evaluate(() => [...document.querySelectorAll('h1, h2, h3, h4')].map(
      (each) => Number(each.tagName[1])));
    levels.forEach((level, i) => assert.ok(i === 0 ? level === 1 : level <= levels[i - 1] + 1));
    const nameless = await page.evaluate(
      () => [...document.querySelectorAll('svg[role=img], [role=group], [role=tree], [role=region]')]
      .filter((each) => !each.getAttribute('aria-label')).length);
    assert.equal(nameless, 0);
    const ids = await page.evaluate(() => [...document.querySelectorAll('[id]')].map((each) => each.id));
    assert.equal(new Set(ids).size, ids.length);
  });

  it('changes its colours', async () => {
    await open('server');
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.locator('#theme').click();
    await page.locator('#theme').click();
    assert.equal(await text_of('#theme'), 'Colours: dark');
    assert.notEqual(await paper(), light);
    assert.deepEqual(await page.evaluate(contrast_problems), []);
    await page.locator('#theme').click();
    assert.equal(await paper(), light);
  });

  it('prints on white, with all of it', async () => {
    await open('server_measured', { colorScheme: 'dark' });
    const target = process.env.ACRE_SCREENSHOTS ? path.join(process.env.ACRE_SCREENSHOTS, 'print.pdf') : undefined;
    const paper = await page.pdf(
      { path: target, format: 'A4', margin: { top: '12mm', bottom: '12mm', left: '12mm', right: '12mm' } });
    assert.ok(paper.length > 20_000);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
    assert.deepEqual(await page.evaluate(contrast_problems), []);
    assert.equal(await page.locator('#theme').isVisible(), false);
  });

  it('prints code without wrapping its lines', async () => {
    await open('server', { viewport: { width: 700, height: 900 } }); // as wide as a page of A4
    await page.emulateMedia({ media: 'print' });
    const blocks = await page.evaluate(() => [...document.querySelectorAll('.advice .code code')].map((each) => {
      const range = document.createRange();
      range.selectNodeContents(each);
      const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      return { shown: tops.size, lines: each.textContent.trimEnd().split('\n').filter((line) => line.trim()).length };
    }));
    assert.ok(blocks.length > 0);
    for (const { shown, lines } of blocks) assert.ok(shown <= lines, `${shown} lines of ${lines}`);
  });
});
