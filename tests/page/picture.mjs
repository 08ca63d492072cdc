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
// Charts are drawn when they come near the screen, and what is above them tells where they are.
const charts = page.locator("figure:has(script)").filter({ hasText: /Reads a second|Writes a second/ });
for (const chart of await charts.all()) await chart.scrollIntoViewIfNeeded();
await page.evaluate(() => document.fonts.ready);
await page.waitForTimeout(500);
// The head with the first verdicts, then the rates: the load and whatever else lies between is left out.
await page.evaluate(() => {
    const rates = document.querySelector("section[id^=run-]");
    document.querySelectorAll("main > section, main > nav").forEach((part) => {
        if (part.id !== "verdicts" && part !== rates) part.remove();
    });
    [...rates.children].slice(2).forEach((part) => part.remove());
    [...document.querySelectorAll("#verdicts .verdict")].slice(2).forEach((part) => part.remove());
    document.querySelector("footer").remove();
    scrollTo(0, 0);
});
await page.waitForTimeout(300);
await page.screenshot({ path: picture, fullPage: true });
await browser.close();
const { size } = statSync(picture);
console.log(`${picture}: ${size} bytes`);
if (size > MOST_BYTES) {
    console.error(`${picture} has ${size} bytes; a README's picture should have ${MOST_BYTES} at the most`);
    process.exitCode = 1;
}
