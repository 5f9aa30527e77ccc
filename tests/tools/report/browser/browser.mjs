// The browser that the tests and the measurement use: headless, and silent on the network.
import { chromium } from 'playwright-core';

export function launched() {
  return chromium.launch({
    executablePath: process.env.ACRE_CHROMIUM || '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}
