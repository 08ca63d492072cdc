// Takes the picture of a page that the README shows: `make picture`. Arguments: the page, the picture.
import { createRequire } from "node:module";
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";

const bring = createRequire(`${process.env.TEST_PAGE_MODULES}/package.json`);
const { chromium } = bring("playwright-core");
const [file, picture] = process.argv.slice(2);
// What a reader of the README waits for.
const MOST_BYTES = 300_000;

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const browser = await chromium.launch({ executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, colorScheme: "light" });
const page = await context.newPage();
await page.goto(`file://${resolve(file)}`);
// The first screen as it is: the first chart is drawn when it comes near it.
await page.locator("figure.live").first().waitFor();
await page.evaluate(() => document.fonts.ready);
await page.screenshot({ path: picture });
await browser.close();
const { size } = statSync(picture);
console.log(`${picture}: ${size} bytes`);
if (size > MOST_BYTES) {
    console.error(`${picture} has ${size} bytes; a README's picture should have ${MOST_BYTES} at the most`);
    process.exitCode = 1;
}
