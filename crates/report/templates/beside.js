// Everything relative to one setup, and a second results folder beside this one. Verdicts are those that kvdyno made:
// nothing here judges.
"use strict";
(() => {
    const { element, dress, unpacked, digits } = globalThis.page;
    const section = document.querySelector("#beside");
    section.hidden = false;
    const carried = async (name) => {
        const file = document.querySelector(`script[data-file="${name}"]`);
        return parse(await (await unpacked(file.textContent.trim())).text());
    };
    // CSV as RFC 4180 has it, as objects by the names of its columns.
    const parse = (text) => {
        const rows = [[]];
        let field = "";
        let isQuoted = false;
        const end = () => {
            rows.at(-1).push(field);
            field = "";
        };
        for (let at = 0; at < text.length; at += 1) {
            const letter = text[at];
            if (isQuoted && letter === '"' && text[at + 1] === '"') {
                field += letter;
                at += 1;
            } else if (letter === '"') isQuoted = !isQuoted;
            else if (isQuoted) field += letter;
            else if (letter === ",") end();
            else if (letter === "\n") {
                end();
                rows.push([]);
            } else if (letter !== "\r") field += letter;
        }
        if (field || rows.at(-1).length) end();
        const [heads, ...others] = rows.filter((row) => row.length);
        return others.map((row) => Object.fromEntries(heads.map((head, nth) => [head, row[nth] ?? ""])));
    };
    const interval = (low, high) => (low === "" || high === "" ? "" : ` (${digits(+low)} to ${digits(+high)})`);
    // Columns whose heads are in `words` are no numbers.
    const draw = (into, heads, rows, words = []) => {
        const of = (nth) => (nth === 0 || words.includes(heads[nth]) ? {} : { class: "n" });
        const head = (text, nth) => element("th", { scope: "col", ...of(nth) }, text);
        const cell = (text, nth) => element(nth ? "td" : "th", nth ? of(nth) : { scope: "row" }, text);
        const table = element(
            "table",
            {},
            element("thead", {}, element("tr", {}, ...heads.map(head))),
            element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))),
        );
        into.replaceChildren(element("div", { class: "scroll" }, table));
        if (rows.length) dress(table);
    };

    // ---- relative to one setup
    const marks = { same: "≈ ", "cannot tell": "? " };
    const over = (pair, baseline) => {
        const [ratio, low, high] = [pair.ratio, pair.low, pair.high].map((it) => (it === "" ? "" : +it));
        const inverse = (value) => (value === "" ? "" : 1 / value);
        const [value, from, to] = pair.one === baseline ? [ratio, high, low].map(inverse) : [ratio, low, high];
        return value === "" ? "?" : `${marks[pair.verdict] ?? ""}${digits(value)}${interval(from, to)}`;
    };
    const byBaseline = async () => {
        const pairs = await carried("verdicts.csv");
        const setups = [...new Set(pairs.flatMap((pair) => [pair.one, pair.other]))];
        if (setups.length < 2) return;
        const work = (pair) => `${pair.work}, ${pair.side || pair.figure}`;
        const works = [...new Set(pairs.map(work))];
        const choice = element("select", { id: "baseline" });
        ["–", ...setups].forEach((setup) => choice.append(element("option", {}, setup)));
        const into = element("div", {});
        choice.addEventListener("change", () => {
            const baseline = choice.value;
            if (!setups.includes(baseline)) return into.replaceChildren();
            const field = (setup, of) => {
                const ends = (pair) => [pair.one, pair.other];
                const is = (pair) => work(pair) === of && ends(pair).includes(setup) && ends(pair).includes(baseline);
                const pair = pairs.find(is);
                return setup === baseline ? "1" : pair ? over(pair, baseline) : "–";
            };
            const row = (setup) => [setup, ...works.map((of) => field(setup, of))];
            draw(into, ["setup", ...works], setups.map(row));
            into.append(
                element(
                    "p",
                    { class: "note" },
                    `The ratio of each setup to ${baseline}, with the 95 % interval of its verdict. Above 1 it ` +
                        "does more in the same time, or uses less CPU time. ≈ the same; ? cannot tell.",
                ),
            );
        });
        section
            .querySelector("#relative-to")
            .append(element("p", {}, element("label", { for: "baseline" }, "Everything relative to "), choice), into);
    };

    // ---- a second folder
    const MOST_BYTES = 32 << 20;
    const IDENTITY = ["engine", "phase", "variant", "workload", "readers", "writers", "clients"];
    const SETTINGS = ["version", "library"];
    const FIGURES = ["reads_per_s", "writes_per_s"];
    // The keys of a cell's experiment: those of its run or load say what it did, the others are settings.
    const isOfWork = (key) => key.startsWith("run.") || key.startsWith("load.");
    const keysOf = (cell) => Object.entries(JSON.parse(cell.keys || "{}"));
    const work = (cell) => JSON.stringify(keysOf(cell).filter(([key]) => isOfWork(key)));
    const settings = (cell) =>
        new Map([
            ...SETTINGS.map((column) => [column, cell[column]]),
            ...keysOf(cell).filter(([key]) => !isOfWork(key)),
        ]);
    // A word of a command for a shell.
    const quoted = (word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
    const status = section.querySelector("#second-status");
    const shown = section.querySelector("#second");
    const refuse = (why) => {
        shown.replaceChildren();
        status.textContent = why;
    };
    const rate = (cell, figure) =>
        cell[figure] === ""
            ? "–"
            : digits(+cell[figure]) + interval(cell[`${figure}_low`], cell[`${figure}_high`]);
    const beside = async (name, file) => {
        if (!file) return refuse(`${name} has no report/cells.csv: drop a results folder that has a report.`);
        if (file.size > MOST_BYTES) return refuse(`${name}: cells.csv has more than ${MOST_BYTES >> 20} MiB.`);
        const [here, there] = [await carried("cells.csv"), parse(await file.text())];
        const columns = [...IDENTITY, ...SETTINGS, "keys", ...FIGURES];
        const absent = columns.filter((column) => !(column in (there[0] ?? {})));
        if (absent.length) {
            return refuse(
                `${name}: cells.csv has no column ${absent[0]}: it is empty, or of another version of kvdyno. ` +
                    "`kvdyno report` of that folder writes it anew.",
            );
        }
        const isNamedAlike = (one, other) => IDENTITY.every((column) => one[column] === other[column]);
        const paired = (isPair) =>
            here.map((one) => [one, there.find((other) => isPair(one, other))]).filter(([, other]) => other);
        const differs = (pair, of = settings) => {
            const [here, there] = pair.map(of);
            return [...new Set([...here.keys(), ...there.keys()])]
                .filter((key) => here.get(key) !== there.get(key))
                .map((key) => `≠ ${key}: ${here.get(key) || "–"} here, ${there.get(key) || "–"} there`)
                .join("; ");
        };
        const pairs = paired((one, other) => isNamedAlike(one, other) && work(one) === work(other));
        if (!pairs.length) {
            const [nearest] = paired(isNamedAlike);
            const why = nearest ? ` ${differs(nearest, (cell) => new Map(keysOf(cell)))}.` : "";
            return refuse(`${name} has no cell of the same setup, work and number of clients.${why}`);
        }
        const row = ([one, other]) => [
            one.engine,
            [one.variant, one.phase === "load" ? "load" : "", one.workload].filter(Boolean).join(" "),
            `${one.readers} + ${one.writers}`,
            ...FIGURES.flatMap((figure) => [rate(one, figure), rate(other, figure)]),
            differs([one, other]),
        ];
        const heads = ["setup", "work", "readers + writers"]
            .concat(["reads/s here", "reads/s there", "writes/s here", "writes/s there"])
            .concat(["differences of settings"]);
        draw(shown, heads, pairs.map(row), ["work", "differences of settings"]);
        const own = decodeURIComponent(location.pathname).replace(/\/report\/[^/]*$/, "");
        status.textContent =
            `${pairs.length} of ${here.length} cells are in both, here (this page) and there (${name}), with ` +
            `their 95 % intervals. Verdicts: kvdyno diff ${quoted(own)} ${quoted(name)}`;
    };
    const find = async (entry) => {
        const child = (folder, path) => new Promise((done) => folder.getFile(path, {}, done, () => done(null)));
        const found = (await child(entry, "report/cells.csv")) ?? (await child(entry, "cells.csv"));
        return found && new Promise((done) => found.file(done, () => done(null)));
    };
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", async (event) => {
        event.preventDefault();
        const [item] = event.dataTransfer.items;
        const entry = item?.webkitGetAsEntry?.();
        const file = item?.getAsFile?.();
        if (entry?.isDirectory) return beside(entry.name, await find(entry));
        if (file?.name === "cells.csv") return beside(file.name, file);
        return refuse("Drop a results folder, or its report/cells.csv.");
    });
    const picker = section.querySelector("#second-folder");
    picker.addEventListener("change", () => {
        const files = [...picker.files];
        const path = (file) => file.webkitRelativePath;
        const file =
            files.find((one) => path(one).endsWith("/report/cells.csv")) ??
            files.find((one) => path(one).endsWith("/cells.csv"));
        beside(path(files[0] ?? {})?.split("/")[0] ?? "the folder", file);
    });
    byBaseline();
})();
