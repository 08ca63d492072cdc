// How long a large page takes to open, and how large it is: `make bench-page`. Arguments: the page, and what the
// program that made it printed. Ends with 1 where one of them is above its limit.
import { createRequire } from "node:module";
import { existsSync, readFileSync, statSync } from "node:fs";

const bring = createRequire(`${process.env.TEST_PAGE_MODULES}/package.json`);
const { chromium } = bring("playwright-core");
const [page, printed] = process.argv.slice(2);
const ROUNDS = 5;
const LIMITS = { "made, s": 1, "opened, s": 2, "size, MB": 6 };

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const madeIn = [...readFileSync(printed, "utf8").matchAll(/^made in ([\d.]+) s$/gm)].map(([, s]) => Number(s));

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const browser = await chromium.launch({ executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
// Open is what can be seen and used: everything is loaded, its scripts have run, and two frames are painted since.
const open = async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const tab = await context.newPage();
    const begun = performance.now();
    await tab.goto(`file://${page}`, { waitUntil: "load" });
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const seconds = (performance.now() - begun) / 1000;
    const charts = await tab.evaluate(() => document.querySelectorAll("figure .plane").length);
    await context.close();
    if (charts === 0) throw new Error("the page has no charts");
    return seconds;
};
const opened = [];
for (let round = 0; round < ROUNDS; round += 1) opened.push(await open());
await browser.close();

const figures = { "made, s": median(madeIn), "opened, s": median(opened), "size, MB": statSync(page).size / 1e6 };
let isAbove = false;
for (const [name, figure] of Object.entries(figures)) {
    const above = !(figure <= LIMITS[name]);
    isAbove ||= above;
    const words = `${name.padEnd(10)} ${figure.toFixed(2).padStart(6)}   at most ${LIMITS[name]}`;
    console.log(words + (above ? "   ABOVE" : ""));
}
process.exitCode = isAbove ? 1 : 0;
