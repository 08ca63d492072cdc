// Tables that sort, filter and are copied; files that the page carries.
"use strict";
(() => {
    // Paper cannot open what is folded; the notices of the library are no part of a report, and some is too long.
    let opened = [];
    addEventListener("beforeprint", () => {
        opened = [...document.querySelectorAll("main details:not([open], .on-screen)")];
        opened.forEach((it) => (it.open = true));
    });
    addEventListener("afterprint", () => opened.forEach((it) => (it.open = false)));

    const element = (tag, attributes, ...children) => {
        const made = document.createElement(tag);
        Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
        made.append(...children);
        return made;
    };
    const button = (words, act) => {
        const made = element("button", { type: "button" }, words);
        made.addEventListener("click", () => act(made));
        return made;
    };
    const words = (cell) => cell?.textContent.trim() ?? "";
    // Times of minutes and seconds are numbers of seconds.
    const number = (text) => {
        const clock = /^(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(text);
        if (clock) return +(clock[1] ?? 0) * 3600 + +clock[2] * 60 + +clock[3];
        const match = /-?\d[\d,]*(?:\.\d+)?(?:\s*(ns|µs|ms|s)\b)?/.exec(text);
        return match ? parseFloat(match[0].replaceAll(",", "")) * ({ µs: 1e3, ms: 1e6, s: 1e9 }[match[1]] ?? 1) : NaN;
    };
    const order = (column, isNumber, sign) => (one, other) => {
        const [a, b] = [one, other].map((row) => words(row.cells[column]));
        if (!isNumber) return sign * a.localeCompare(b, "en", { numeric: true });
        const [x, y] = [number(a), number(b)];
        return Number.isNaN(x) || Number.isNaN(y) ? Number.isNaN(x) - Number.isNaN(y) : sign * (x - y);
    };
    // Rows of a group stay together; the first group has no heading where a table has none.
    const groups = (body) =>
        [...body.rows].reduce((all, row) => {
            if (row.classList.contains("group") || !all.length) all.push([]);
            all.at(-1).push(row);
            return all;
        }, []);
    const sort = (table, head, column) => {
        const isNumber = head.classList.contains("n");
        const before = head.getAttribute("aria-sort");
        const next =
            before === (isNumber ? "descending" : "ascending")
                ? isNumber
                    ? "ascending"
                    : "descending"
                : isNumber
                  ? "descending"
                  : "ascending";
        table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", next);
        const [body] = table.tBodies;
        const compare = order(column, isNumber, next === "ascending" ? 1 : -1);
        groups(body).forEach((rows) => {
            const heading = rows.filter((row) => row.classList.contains("group"));
            body.append(...heading, ...rows.filter((row) => !row.classList.contains("group")).sort(compare));
        });
    };
    const filter = (table, wanted) =>
        groups(table.tBodies[0]).forEach((rows) => {
            const plain = rows.filter((row) => !row.classList.contains("group"));
            const headings = rows.filter((row) => row.classList.contains("group"));
            const has = (row) => words(row).toLowerCase().includes(wanted);
            plain.forEach((row) => {
                row.hidden = !has(row) && !headings.some(has);
            });
            headings.forEach((row) => {
                row.hidden = plain.every((it) => it.hidden);
            });
        });
    const shown = (table) =>
        [...table.rows]
            .filter((row) => !row.hidden)
            .map((row) => [...row.cells].map((cell) => words(cell).replace(/\s+/g, " ")));
    const tsv = (rows) => rows.map((row) => row.join("\t")).join("\n");
    const markdown = (rows) => {
        const line = (row) => `| ${row.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
        return [line(rows[0]), line(rows[0].map(() => "---")), ...rows.slice(1).map(line)].join("\n");
    };
    // The clipboard's own interface wants a secure origin, which a file is not everywhere.
    const copy = async (text, made) => {
        const box = element("textarea", { "aria-label": "To copy" });
        box.value = text;
        document.body.append(box);
        box.select();
        const done = document.execCommand("copy");
        box.remove();
        const before = made.textContent;
        made.textContent = done ? "Copied" : "Cannot copy";
        made.focus();
        setTimeout(() => {
            made.textContent = before;
        }, 1500);
    };

    const dress = (table) => {
        const around = table.parentElement;
        around.tabIndex = 0;
        around.setAttribute("role", "group");
        const title =
            around.closest("details")?.querySelector("summary")?.textContent ??
            around.closest("section").querySelector("h2").textContent;
        around.setAttribute("aria-label", `Table: ${title}`);
        if (!table.tHead) return;
        [...table.tHead.rows[0].cells].forEach((head, column) => {
            if (!words(head)) return;
            head.replaceChildren(button(words(head), () => sort(table, head, column)));
        });
        const box = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter rows" });
        box.addEventListener("input", () => filter(table, box.value.trim().toLowerCase()));
        const tools = element("div", { class: "tools", role: "group", "aria-label": "Table tools" });
        if (table.tBodies[0].rows.length > 5) tools.append(box);
        tools.append(
            button("Copy TSV", (made) => copy(tsv(shown(table)), made)),
            button("Copy Markdown", (made) => copy(markdown(shown(table)), made)),
        );
        around.before(tools);
    };
    document.querySelectorAll(".scroll table").forEach(dress);

    document.querySelectorAll("[data-copies]").forEach((from) => {
        from.append(
            " ",
            button("Copy", (made) => copy(from.querySelector("code").textContent, made)),
        );
    });
    const unpacked = async (packed) => {
        const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
        return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
    };
    document.querySelectorAll("script[data-file]").forEach((file) => {
        const made = button(`Save ${file.dataset.file}`, async () => {
            const address = URL.createObjectURL(await unpacked(file.textContent.trim()));
            element("a", { download: file.dataset.file, href: address }).click();
            setTimeout(() => URL.revokeObjectURL(address), 1000);
        });
        document.querySelector("#files").append(made, " ");
    });
    // Three digits at least, and all of them before the point.
    const digits = (value) =>
        Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(+value.toPrecision(3));
    globalThis.page = { element, button, dress, unpacked, digits };
})();
