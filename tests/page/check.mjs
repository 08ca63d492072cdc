// Whether the page does what it promises, in a browser: `make test-page`. Arguments: the page of a few engines, the
// page of many.
import { createRequire } from "node:module";
import { readFileSync, existsSync } from "node:fs";

const bring = createRequire(`${process.env.TEST_PAGE_MODULES}/package.json`);
const { chromium } = bring("playwright-core");
const axe = readFileSync(bring.resolve("axe-core/axe.min.js"), "utf8");
const SIZES = [
    [360, 740],
    [1440, 900],
];
const THEMES = ["light", "dark"];
// A look takes some ten seconds: a browser that takes so long hangs.
const LONGEST_LOOK_S = 300;
let passed = 0;
const failures = [];
const check = (name, isSo, seen = "") => {
    if (isSo) passed += 1;
    else failures.push(`${name} ${seen}`);
};

const inside = (selector) => async (page) =>
    page
        .locator(selector)
        .first()
        .evaluate((it) => {
            const box = it.getBoundingClientRect();
            return box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
        });
const overflow = (page) =>
    page.evaluate(() => {
        const { scrollWidth } = document.documentElement;
        const wide = [...document.querySelectorAll("body *")].filter(
            (it) => it.getBoundingClientRect().right > innerWidth + 1 && !it.closest(".scroll, svg, .plane"),
        );
        return scrollWidth > innerWidth
            ? `${scrollWidth} ${wide.slice(0, 3).map((it) => it.outerHTML.slice(0, 90))}`
            : "";
    });
const scrollThrough = async (page) => {
    // Charts that are drawn make the page higher.
    const high = () => page.evaluate(() => document.documentElement.scrollHeight);
    const step = await page.evaluate(() => innerHeight);
    for (let top = 0; top < (await high()); top += step) {
        await page.evaluate((to) => scrollTo(0, to), top);
        // A busy machine tells the page late what has come near the screen.
        await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
        await page.waitForTimeout(30);
    }
};
const drawings = (page) =>
    page.evaluate(() =>
        [...document.querySelectorAll("figure")].map((it) => it.querySelectorAll(".plane svg path").length),
    );

// Of each chart: series that its two painters draw otherwise, by name, mark, colour or dash.
const paintedOtherwise = (page) =>
    page.evaluate(() => {
        const shapes = { circle: 0, rect: 1, triangle: 2, diamond: 3, "path://M0,0": 4, "path://M0,5": 5 };
        const shapeOf = (mark) => {
            if (mark.tagName === "circle") return 0;
            const corners = mark.getAttribute("points").trim().split(" ").map((at) => at.split(",").map(Number));
            if (corners.length > 4) return 5;
            const [across, down] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
            if (corners.length === 4) return new Set(across).size === 2 ? 1 : 3;
            return down.filter((y) => y === Math.min(...down)).length === 1 ? 2 : 4;
        };
        const colour = (nth) => getComputedStyle(document.documentElement).getPropertyValue(`--s${nth}`).trim();
        const dash = (svg, nth) => {
            const lines = [...svg.querySelectorAll(`polyline[stroke='var(--s${nth})']`)];
            return lines.map((it) => it.getAttribute("stroke-dasharray"));
        };
        const dashes = { solid: null, dashed: "50 30", dotted: "15 25" };
        return [...document.querySelectorAll("figure")].flatMap((figure) => {
            const { data, drawn } = figure.chart;
            const svg = figure.querySelector(".static svg");
            const { series } = drawn.getOption();
            const wrong = (what) => [`${data.description}: ${what}`];
            const told = data.kind === "triangle" ? series[0].data : series.filter((it) => it.type !== "custom");
            if (told.map((it) => it.name).join() !== data.series.map((it) => it.name).join()) return wrong("names");
            return told.flatMap((it) => {
                const label = [...svg.querySelectorAll("text")].find((text) => text.textContent.trim() === it.name);
                if (!label) return wrong(`${it.name} is not in the drawing`);
                const mark = label.previousElementSibling;
                const painted = mark.getAttribute("fill").match(/--s(\d)/)?.[1];
                const hollow = mark.previousElementSibling.getAttribute("fill").match(/--s(\d)/)?.[1];
                const nth = painted ?? hollow;
                const paint = it.color ?? it.paint;
                if (paint !== colour(nth)) return wrong(`${it.name} has ${paint} and ${colour(nth)}`);
                if (data.kind === "bars") return [];
                const symbols = [it.symbol, ...(it.data ?? []).map((point) => point?.symbol)];
                const symbol = symbols.find((one) => one && one !== "none" && one !== "pin" && one !== "emptyCircle");
                const shape = shapes[symbol.split(" ")[0]];
                if (shape !== shapeOf(mark)) return wrong(`${it.name} has the marks ${symbol} and ${mark.outerHTML}`);
                const type = it.lineStyle?.type;
                const isDashedAlike = !type || dash(svg, nth).includes(dashes[type]);
                return isDashedAlike ? [] : wrong(`${it.name} is ${type} in one of them`);
            });
        });
    });

// Marks of points without an interval are hollow, and no others.
const filledOtherwise = (page) =>
    page.evaluate(() => {
        const background = getComputedStyle(document.documentElement).getPropertyValue("--background").trim();
        const all = [...document.querySelectorAll("figure")].filter((it) => it.chart.data.markers);
        const points = all.flatMap(({ chart }) =>
            chart.drawn.getOption().series.filter((it) => it.type === "line").flatMap((it) => it.data),
        );
        const drawn = points.filter(({ point }) => point);
        const wrong = drawn.filter(({ point, itemStyle }) => (itemStyle.color === background) !== !point[2]);
        const seen = all.map((it) => it.querySelectorAll(`.plane path[fill='${background}'][stroke]`).length);
        const hollow = drawn.filter(({ point }) => !point[2]).length;
        return { wrong: wrong.length, hollow, seen: seen.reduce((sum, count) => sum + count, 0) };
    });

// A stall has a pin, and the hover says so; a chart of latencies shows the percentile that is chosen.
async function overTime(page, name) {
    const stalled = page.locator("figure", { has: page.locator("[aria-label*='reads a second over time']") }).first();
    await stalled.scrollIntoViewIfNeeded();
    const pins = await stalled.evaluate(({ chart }) => {
        const { series } = chart.drawn.getOption();
        const lines = series.map(({ type, data }, nth) => ({ type, data, nth })).filter((it) => it.type === "line");
        const at = lines.flatMap(({ data, nth }) => data.map(({ symbol }, at) => ({ symbol, at, nth })));
        const pinned = at.filter(({ symbol }) => symbol === "pin");
        const [first] = pinned;
        if (first) chart.drawn.dispatchAction({ type: "showTip", seriesIndex: first.nth, dataIndex: first.at });
        const stalls = chart.data.series.flatMap(({ points }) => points).filter((point) => point?.[3]).length;
        return { pinned: pinned.length, stalls };
    });
    await page.waitForTimeout(100);
    const told = await stalled.locator(".plane > div").last().innerText();
    check(`${name}: stalls are pinned`, pins.stalls > 0 && pins.pinned === pins.stalls, JSON.stringify(pins));
    check(`${name}: a stall is told`, /rocksdb[^\n]*, stalled/.test(told), told);
    await stalled.evaluate(({ chart }) => chart.drawn.dispatchAction({ type: "hideTip" }));

    const latency = page.locator("figure", { has: page.locator("[aria-label*='p99 of reads over time']") }).first();
    await latency.scrollIntoViewIfNeeded();
    const heights = () =>
        latency.evaluate(({ chart }) => chart.drawn.getOption().series[0].data.map(({ point }) => point[1]));
    const choose = async (percentile) => {
        await latency.locator(".tools button", { hasText: new RegExp(`^${percentile}$`) }).click();
        return heights();
    };
    const [p99, p50, p999] = [await heights(), await choose("p50"), await choose("p99.9")];
    const isBetween = p99.every((ns, nth) => p50[nth] < ns && ns < p999[nth]);
    check(`${name}: percentiles are switched`, isBetween && (await choose("p99")).join() === p99.join());
}

async function charts(page, name) {
    await scrollThrough(page);
    const otherwise = await paintedOtherwise(page);
    check(`${name}: both painters draw the same`, otherwise.length === 0, otherwise.slice(0, 5).join("\n  "));
    const filled = await filledOtherwise(page);
    const areHollow = filled.hollow > 0 && filled.wrong === 0 && filled.seen >= filled.hollow;
    check(`${name}: points without an interval are hollow`, areHollow, JSON.stringify(filled));
    await overTime(page, name);
    const before = await drawings(page);
    check(`${name}: every chart is drawn`, before.length > 0 && before.every((paths) => paths > 5), before);
    // The subjects that there must be charts of, the axes by their words.
    const subjects = await page.evaluate(() =>
        [...document.querySelectorAll("figure")].map((it) => JSON.parse(it.querySelector("script").textContent)),
    );
    for (const [subject, axis, words] of [
        [/^latency of (reads|writes), .* as curves/, "x", "nines"],
        [/^(reads|writes) a second over time/, "y", "numbers"],
        [/^memory over time/, "y", "bytes"],
        [/^(reads|writes) of the device over time/, "y", "bytes"],
    ]) {
        const such = subjects.filter((it) => subject.test(it.description));
        const few = such.every((it) => it.series.every(({ points }) => points.length > 1 && points.length <= 200));
        check(`${name}: charts of ${subject}`, such.length > 0 && few && such.every((it) => it[axis].words === words));
    }
    const triangles = subjects.filter((it) => it.kind === "triangle");
    check(
        `${name}: triangles of read, update and space amplification`,
        triangles.length > 0 &&
            triangles.every((it) => it.labels.length === 3 && it.series.every(({ points }) => points.length === 3)),
        triangles.length,
    );
    for (const { series } of subjects.filter((it) => it.kind === "dots")) {
        const [measured, published] = series.map(({ points }) => points.filter(Boolean));
        check(
            `${name}: published beside measured`,
            measured.some((point) => point[2]) && published.every((point) => !point[2]),
        );
    }
    const cut = await page.evaluate(() =>
        [...document.querySelectorAll("figure .plane")].flatMap((plane) => {
            const frame = plane.getBoundingClientRect();
            const words = [...plane.querySelectorAll("svg text")].filter((it) => {
                const box = it.getBoundingClientRect();
                return box.right > frame.right + 1 || box.left < frame.left - 1 || box.bottom > frame.bottom + 1;
            });
            return words.map((it) => it.textContent);
        }),
    );
    check(`${name}: no words of a chart are cut`, cut.length === 0, cut.slice(0, 5));
    const ofSizes = page.locator("figure", { hasText: "Sizes after the load" });
    const sizes = await ofSizes.locator(".plane svg text").allTextContents();
    check(`${name}: sizes are in a unit`, sizes.some((it) => /^\d+ [MG]iB$/.test(it)), sizes);
    const curve = page.locator("figure", { has: page.locator("[aria-label*='as curves']") }).first().locator(".plane");
    await curve.scrollIntoViewIfNeeded();
    const frame = await curve.boundingBox();
    await page.mouse.move(frame.x + frame.width / 2, frame.y + frame.height / 2);
    await page.waitForTimeout(100);
    const told = await curve.locator("> div").last().innerText();
    check(`${name}: a curve tells percentile and latency`, /^99\.\d* %\n.*\d [nµm]?s$/m.test(told), told);
    await page.mouse.move(0, 0);
    const dots = page.locator("#published figure .plane").first();
    if (await dots.count()) {
        await dots.scrollIntoViewIfNeeded();
        const place = await dots.boundingBox();
        await page.mouse.move(place.x + place.width / 2, place.y + 40);
        await page.waitForTimeout(100);
        const row = await dots.locator("> div").last().innerText();
        check(`${name}: a row tells both figures`, /measured: .* \(.* to .*\)\n.*published: /.test(row), row);
        await page.mouse.move(0, 0);
    }
    const rates = page.locator("figure", { hasText: "Reads a second" }).first();
    const drawn = (figure = rates) =>
        figure.locator(".plane svg").evaluate((it) => {
            const paths = [...it.querySelectorAll("path")].map(
                (path) => path.getAttribute("d") + path.getAttribute("transform"),
            );
            return paths.sort().join();
        });
    const bars = page.locator("#load figure").first();
    const whole = await drawn(bars);
    await bars.locator("button[title='Zoom in']").click();
    check(`${name}: bars zoomed`, (await drawn(bars)) !== whole);
    await bars.locator("button[title='Show all of it']").click();
    check(`${name}: bars whole again`, (await drawn(bars)) === whole);
    const [full, engine] = [await drawn(), rates.locator(".legend button").first()];
    await engine.click();
    check(
        `${name}: hidden engine`,
        (await engine.getAttribute("aria-pressed")) === "false" && (await drawn()) !== full,
    );
    await engine.click();
    check(`${name}: engine is back`, (await drawn()) === full);
    await rates.locator("button", { hasText: "Log" }).click();
    check(`${name}: logarithmic`, (await drawn()) !== full);
    await rates.locator("button", { hasText: "Log" }).click();
    await rates.locator("button[title='Zoom in']").click();
    check(`${name}: zoomed`, (await drawn()) !== full);
    await rates.locator("button[title='Show all of it']").click();
    const box = await rates.locator(".plane").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForTimeout(100);
    const tip = await rates.locator(".plane > div").last().innerText();
    check(`${name}: hover tells value and interval`, /\d \([\d,.]+ to [\d,.]+\)/.test(tip), tip);
    await page.mouse.move(0, 0);
    for (const [kind, begins] of [
        ["SVG", "<svg"],
        ["PNG", "\x89PNG"],
    ]) {
        const [download] = await Promise.all([
            page.waitForEvent("download"),
            rates.locator("button", { hasText: kind }).click(),
        ]);
        const content = readFileSync(await download.path(), "latin1");
        check(`${name}: saved ${kind}`, content.startsWith(begins) && content.length > 2000, content.slice(0, 40));
    }
}

async function tables(page, name) {
    const table = page.locator("#load .scroll table").first();
    const column = () => table.locator("tbody tr:not(.failed) > :nth-child(2)").allInnerTexts();
    const head = table.locator("thead th").nth(1);
    await head.locator("button").click();
    const down = await column();
    await head.locator("button").click();
    const up = await column();
    check(
        `${name}: sorted`,
        (await head.getAttribute("aria-sort")) === "ascending" &&
            up[0] !== down[0] &&
            [...up].sort().join() === [...down].sort().join(),
        `${up} ${down}`,
    );
    const tools = page.locator("#load .tools", { hasText: "Copy TSV" }).first();
    await tools.locator("button", { hasText: "TSV" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    check(
        `${name}: copied TSV`,
        copied.split("\n").length > 3 && copied.split("\n")[0].includes("\t"),
        copied.slice(0, 60),
    );
    await tools.locator("button", { hasText: "Markdown" }).click();
    const marked = await page.evaluate(() => navigator.clipboard.readText());
    check(`${name}: copied Markdown`, /^\| engine .*\|\n\| --- /.test(marked), marked.slice(0, 60));
    const search = page.locator("input[type=search]").first();
    if (await search.count()) {
        const around = search.locator("xpath=../following-sibling::div[1]");
        const rows = () => around.locator("tbody tr:visible").count();
        const all = await rows();
        await search.fill("lmdb");
        check(`${name}: filtered`, (await rows()) < all && (await rows()) > 0);
        await search.fill("");
    }
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.locator("#files button", { hasText: "cells.csv" }).click(),
    ]);
    const rows = readFileSync(await download.path(), "utf8").split("\n");
    check(`${name}: saved cells.csv`, rows.length > 3 && rows[0].includes("reads_per_s_low"), rows[0]);
}

// Everything relative to one setup; a second folder, by the chooser and dropped, and what is none.
async function beside(page, name, file) {
    const choice = page.locator("#baseline");
    const setup = await choice.locator("option").nth(1).innerText();
    await choice.selectOption(setup);
    const rows = await page.locator("#relative-to tbody tr").allInnerTexts();
    const own = rows.find((row) => row.startsWith(`${setup}\t`)) ?? "";
    check(`${name}: the baseline is 1`, /\t1(\t|$)/.test(own), own);
    const others = rows.filter((row) => row !== own);
    const haveIntervals = others.every((row) => /\d \([\d.,]+ to [\d.,]+\)|\?|–/.test(row) && !row.includes("NaN"));
    check(`${name}: others are relative to it`, others.length > 1 && haveIntervals, others.join("\n"));
    const status = page.locator("#second-status");
    const folder = file.split("/").slice(0, -2).join("/");
    await page.locator("#second-folder").setInputFiles(folder);
    await page.locator("#second table").waitFor();
    const told = await status.innerText();
    const [, both, all] = /^(\d+) of (\d+) cells are in both/.exec(told) ?? [];
    check(`${name}: a second folder stands beside the first`, both === all && told.includes("kvdyno diff "), told);
    const drop = (fileName, text) =>
        page.evaluate(
            ([fileName, text]) => {
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File([text], fileName));
                document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
            },
            [fileName, text],
        );
    const says = async (words) => {
        await page.waitForFunction((it) => document.querySelector("#second-status").textContent.includes(it), words);
        check(`${name}: says "${words}"`, (await page.locator("#second table").count()) === 0);
    };
    await drop("other.txt", "");
    await says("Drop a results folder");
    await drop("cells.csv", "engine,phase\nlmdb,run\n");
    await says("no column variant");
    const cells = readFileSync(`${folder}/report/cells.csv`, "utf8");
    const [head, ...ofCells] = cells.split("\n").filter(Boolean);
    await drop("cells.csv", [head, ...ofCells.map((row) => `x${row}`)].join("\n"));
    await says("no cell of the same setup");
    await drop("cells.csv", cells);
    await page.locator("#second table").waitFor();
}

// Sorts and copies by keys alone.
async function keys(page, name) {
    const table = page.locator("#load .scroll table").first();
    const head = table.locator("thead th").nth(2);
    await head.locator("button").focus();
    await page.keyboard.press("Enter");
    const first = await head.getAttribute("aria-sort");
    await page.keyboard.press("Space");
    const second = await head.getAttribute("aria-sort");
    check(`${name}: keys sort`, first === "descending" && second === "ascending", `${first} ${second}`);
    await page.evaluate(() => navigator.clipboard.writeText("").catch(() => {}));
    await page.locator("#load .tools button", { hasText: "Copy TSV" }).first().focus();
    await page.keyboard.press("Enter");
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    check(`${name}: keys copy`, copied.includes("\t") && copied.split("\n").length > 3, copied.slice(0, 60));
    await page.locator("#repeat button", { hasText: "Copy" }).focus();
    await page.keyboard.press("Enter");
    const command = await page.evaluate(() => navigator.clipboard.readText());
    check(`${name}: keys copy the command`, command.includes("kvdyno run"), command.slice(0, 60));
}

// Whatever a table is scrolled to, it is seen which row is which.
async function namesStay(page, name) {
    const lost = await page.evaluate(() =>
        [...document.querySelectorAll(".scroll")].filter((around) => {
            const isWide = around.scrollWidth > around.clientWidth + 1;
            if (!isWide || !around.querySelector("tbody [scope=row]")) return false;
            around.scrollLeft = around.scrollWidth;
            const frame = around.getBoundingClientRect();
            const names = [...around.querySelectorAll("tbody [scope=row], .group span")];
            const isLost = (it) => {
                const box = it.getBoundingClientRect();
                return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right);
            };
            const wrong = names.some(isLost);
            around.scrollLeft = 0;
            return wrong;
        }).length,
    );
    check(`${name}: names of rows stay in sight`, lost === 0, lost);
}

// A4 on its side, without its margins: 273 mm.
const PAPER = { width: 1032, height: 703 };

// Everything but the library's notices and statistics of trials is unfolded, and nothing is cut.
async function paper(page, name) {
    const before = page.viewportSize();
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize(PAPER);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const [folded, notices] = await page.evaluate(() =>
        ["main", "footer"].map((part) => document.querySelectorAll(`${part} details:not([open], .on-screen)`).length),
    );
    check(`${name}: paper is unfolded`, folded === 0 && notices === 2, `${folded} ${notices}`);
    const own = page.locator("main details.on-screen").first();
    check(`${name}: statistics of trials are not printed`, (await own.count()) === 1 && !(await own.isVisible()));
    const cut = await page.evaluate(() =>
        [...document.querySelectorAll("main table, main pre, main li, main dd, main svg")]
            .filter((it) => it.getClientRects().length && it.getBoundingClientRect().right > innerWidth + 1)
            .map((it) => `${Math.round(it.getBoundingClientRect().right)}: ${it.textContent.trim().slice(0, 60)}`),
    );
    check(`${name}: nothing is cut on paper`, cut.length === 0, cut.slice(0, 4).join("\n  "));
    const scrolls = await page.evaluate(
        () => [...document.querySelectorAll("main .scroll")].filter((it) => it.scrollWidth > it.clientWidth + 1).length,
    );
    check(`${name}: nothing on paper would have to be scrolled`, scrolls === 0, scrolls);
    check(
        `${name}: paper has the drawings`,
        (await page.locator("figure .static").first().isVisible()) &&
            (await page.locator("figure .twin").first().isVisible()) &&
            !(await page.locator("figure .plane").first().isVisible()),
    );
    const tall = await page.evaluate(() => {
        const drawings = [...document.querySelectorAll(".static > svg")];
        return drawings.filter((it) => it.getBoundingClientRect().height > 600).length;
    });
    check(`${name}: no chart is higher than a sheet`, tall === 0, tall);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    await page.setViewportSize(before);
    const again = await page.evaluate(() => document.querySelectorAll("#engines ~ section details[open]").length);
    check(`${name}: what paper unfolded is folded again`, again === 0, again);
}

// Tab reaches each control, Enter works, arrows tell points.
async function keyboard(page, name) {
    await page.evaluate(() => {
        const around = (it) => (it.tagName === "SUMMARY" ? it.parentElement.parentElement : it);
        window.wanted = [...document.querySelectorAll("button, a, summary, input, select, .plane")].filter(
            (it) => it.offsetParent && !around(it).closest("details:not([open])"),
        );
    });
    const wanted = await page.evaluate(() => window.wanted.length);
    await page.evaluate(() => {
        document.activeElement.blur();
        scrollTo(0, 0);
        window.reached = new Set();
    });
    for (let presses = 0; presses < wanted + 400; presses += 1) {
        await page.keyboard.press("Tab");
        const isNew = await page.evaluate(() => {
            const { size } = window.reached;
            window.reached.add(document.activeElement);
            return window.reached.size > size;
        });
        if (!isNew) break;
    }
    const missed = await page.evaluate(() =>
        window.wanted.filter((it) => !window.reached.has(it)).map((it) => it.outerHTML.slice(0, 120)),
    );
    const some = missed.slice(0, 3).join("; ");
    check(`${name}: Tab reaches everything`, !missed.length, `${missed.length} of ${wanted} missed: ${some}`);
    const plane = page.locator("figure .plane").nth(2);
    await plane.focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(100);
    check(`${name}: arrows tell points`, /\d/.test(await plane.locator("> div").last().innerText()));
    await page.locator("figure .legend button").first().focus();
    await page.keyboard.press("Enter");
    check(
        `${name}: Enter hides`,
        (await page.locator("figure .legend button").first().getAttribute("aria-pressed")) === "false",
    );
    await page.keyboard.press("Enter");
}

// What has begun, if it ends in time; otherwise the whole check ends as failed.
async function within(seconds, name, begun) {
    const timer = setTimeout(() => {
        failures.forEach((failure) => console.error(`FAILED ${failure}`));
        console.error(`FAILED ${name}: has not ended after ${seconds} s`);
        process.exit(1);
    }, 1000 * seconds);
    await begun;
    clearTimeout(timer);
}

async function look(browser, file, [width, height], theme) {
    const name = `${file.split("/").at(-3)} ${width}x${height} ${theme}`;
    const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        permissions: ["clipboard-read"],
    });
    const page = await context.newPage();
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(error.message));
    page.on("request", (request) => {
        if (!/^(file|data|blob):/.test(request.url())) said.push(request.url());
    });
    await page.goto(`file://${file}`);
    const opened = await page.evaluate(() => performance.timing.loadEventEnd - performance.timing.navigationStart);
    check(`${name}: the first verdict is within the first screen`, await inside("#verdicts li")(page));
    const verdicts = await page.locator("#verdicts li").evaluateAll((all) =>
        all.filter((it) => it.getBoundingClientRect().bottom <= innerHeight).map((it) => it.textContent),
    );
    const hasRatio = verdicts.some((it) => /\d (times as fast as|% faster than) .*\([^)]* to [^)]*\)/.test(it));
    check(`${name}: a ratio with its interval is within the first screen`, hasRatio, verdicts.join("\n  "));
    if (width > 1000) check(`${name}: the first chart is within the first screen`, await inside("figure")(page));
    await charts(page, name);
    await tables(page, name);
    await beside(page, name, file);
    await keys(page, name);
    await namesStay(page, name);
    if (width > 1000 && theme === "light") await keyboard(page, name);
    check(`${name}: nothing overflows`, (await overflow(page)) === "", await overflow(page));
    const shown = await drawings(page);
    await page.emulateMedia({ colorScheme: theme === "dark" ? "light" : "dark" });
    await page.waitForTimeout(100);
    check(`${name}: drawn in the other theme`, (await drawings(page)).join() === shown.join());
    await page.emulateMedia({ colorScheme: theme });
    await paper(page, name);
    await page.evaluate(`${axe}; 0`);
    const { violations } = await page.evaluate(() => {
        document.querySelectorAll("details").forEach((it) => (it.open = true));
        return axe.run();
    });
    check(
        `${name}: axe finds nothing`,
        violations.length === 0,
        violations
            .map(
                (it) =>
                    `${it.id}: ${it.nodes.length}: ${it.nodes[0].html.slice(0, 120)}`,
            )
            .join("\n  "),
    );
    check(`${name}: no error, no request`, said.length === 0, said.join("; "));
    await context.close();
    console.log(`${name}: opened in ${opened} ms`);
}

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
// Without a GPU its process would only draw what the renderer can, and has been seen to hang.
const args = ["--disable-gpu", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
const browser = await chromium.launch({ executablePath, args });
for (const file of process.argv.slice(2)) {
    for (const size of SIZES) {
        for (const theme of THEMES) {
            const name = `${file} ${size} ${theme}`;
            await within(LONGEST_LOOK_S, name, look(browser, file, size, theme));
        }
    }
}
await browser.close();
failures.forEach((failure) => console.error(`FAILED ${failure}`));
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length || !passed ? 1 : 0;
