// Draws the page's charts by ECharts from the descriptions beside them. Until it does, and on paper, their SVG stands.
"use strict";
(() => {
    const { element, digits } = globalThis.page;
    const shapes = [
        "circle",
        "rect",
        "triangle",
        "diamond",
        "path://M0,0 L10,0 L5,10 Z",
        "path://M0,5 L3,0 L7,0 L10,5 L7,10 L3,10 Z",
    ];
    const hidden = new Set();
    const charts = [];
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    const escaped = (text) => {
        const box = document.createElement("i");
        box.textContent = text;
        return box.innerHTML;
    };

    const scaled = (value, units) => {
        const [size, unit] = units.find(([size]) => Math.abs(value) >= size) ?? units.at(-1);
        return `${+(value / size).toPrecision(3)}${unit}`;
    };
    const nanoseconds = (value) =>
        scaled(value, [
            [1e9, " s"],
            [1e6, " ms"],
            [1e3, " µs"],
            [1, " ns"],
        ]);
    const short = (value) =>
        scaled(value, [
            [1e9, " G"],
            [1e6, " M"],
            [1e3, " k"],
            [1, ""],
        ]);
    const binary = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    const power = (value) => Math.max(0, Math.min(4, Math.floor(Math.log2(Math.max(Math.abs(value), 1)) / 10)));
    const bytes = (value) => `${+(value / 1024 ** power(value)).toPrecision(3)} ${binary[power(value)]}`;
    const percentile = (nines) => `${+(100 * (1 - 10 ** -nines)).toFixed(Math.max(0, Math.ceil(nines) - 1))} %`;
    const words = (axis, value) =>
        ({ nanoseconds, bytes, nines: percentile })[axis.words]?.(value) ?? digits(value);
    // Figures are drawn in a unit in which round numbers are round: bytes in that of the greatest.
    const unit = (axis, figures) => {
        const nth = axis.words === "bytes" ? power(Math.max(0, ...figures)) : 0;
        const mark = (value) => (value && axis.words === "bytes" ? `${short(value)} ${binary[nth]}` : short(value));
        return { size: 1024 ** nth, mark: axis.words === "nanoseconds" ? nanoseconds : mark };
    };
    const figures = (points) => points.filter(Boolean).flatMap((point) => [point[1], ...(point[2] ?? [])]);
    const tick = (axis, at) =>
        axis.ticks.find(([where]) => Math.abs(where - at) < 1e-9 * (1 + Math.abs(at)))?.[1] ?? "";

    const interval = (point, print) => (point[2] ? ` (${print(point[2][0])} to ${print(point[2][1])})` : "");
    const line = (name, paint, text) =>
        `<span style="color:${paint}">■</span> ${escaped(name)}: <b>${escaped(text)}</b>`;

    // An upright line with feet from one end of a point's interval to the other, or one that lies where bars do.
    const whisker = (paint, shift, isFlat) => (params, api) => {
        const low = api.coord(isFlat ? [api.value(1), api.value(0)] : [api.value(0), api.value(1)]);
        const high = api.coord(isFlat ? [api.value(2), api.value(0)] : [api.value(0), api.value(2)]);
        const offset = isFlat ? shift * api.size([0, 1])[1] : 0;
        const at = ([x, y], along, across) => (isFlat ? [x + along, y + offset + across] : [x + across, y]);
        const stroke = (from, to) => ({
            type: "line",
            shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] },
            style: { stroke: paint, lineWidth: 1.3 },
        });
        return {
            type: "group",
            children: [
                stroke(at(low, 0, 0), at(high, 0, 0)),
                stroke(at(low, 0, -3.5), at(low, 0, 3.5)),
                stroke(at(high, 0, -3.5), at(high, 0, 3.5)),
            ],
        };
    };

    const ruler = document.createElement("canvas").getContext("2d");

    // Of labels of an axis, pixels.
    const widest = (labels) => {
        ruler.font = "12px system-ui, sans-serif";
        return Math.max(0, ...labels.map((label) => ruler.measureText(label).width));
    };

    const text = () => ({ color: colour("muted"), fontFamily: "system-ui, sans-serif", fontSize: 12 });
    const base = (chart) => ({
        animation: false,
        textStyle: text(),
        aria: { enabled: false },
        tooltip: {
            confine: true,
            backgroundColor: colour("panel"),
            borderColor: colour("rule"),
            textStyle: { ...text(), color: colour("ink") },
            trigger: "axis",
            extraCssText: "max-width: min(100%, 28rem); white-space: normal",
            axisPointer: { type: hasRows(chart) ? "shadow" : "line" },
        },
        // Rows are zoomed along their figures.
        dataZoom: (hasRows(chart) ? ["xAxisIndex"] : ["xAxisIndex", "yAxisIndex"]).map((axis) => ({
            type: "inside",
            [axis]: 0,
            zoomOnMouseWheel: "ctrl",
            moveOnMouseWheel: false,
            moveOnMouseMove: true,
            filterMode: "none",
        })),
    });
    const axisStyle = () => ({
        axisLine: { show: true, onZero: false, lineStyle: { color: colour("muted") } },
        splitLine: { lineStyle: { color: colour("grid") } },
        axisLabel: { color: colour("muted"), hideOverlap: true },
        nameTextStyle: { color: colour("muted") },
    });

    // A line of many points bears its mark on a few of them, others than its neighbours' do.
    const isMarked = ({ style, points }, nth) => {
        const step = Math.max(1, Math.floor(points.length / 4));
        return nth % step === (style * 5) % step;
    };
    const dashes = ["solid", "dashed", "dotted"];
    // What is 0 stands at the lower end of a logarithmic axis.
    const lineSeries = (chart, { size }, least) =>
        chart.data.series
            .filter((it) => !hidden.has(it.name))
            .flatMap((it) => {
                const paint = colour(`s${it.style % 8}`);
                const points = it.points.filter(Boolean);
                const height = (figure) => (chart.log ? Math.max(figure / size, least) : figure / size);
                const { markers } = chart.data;
                const drawn = it.points.map((point, nth) => {
                    if (!point) return { value: ["-", "-"] };
                    const isHollow = markers && !point[2];
                    const itemStyle = {
                        color: isHollow ? colour("background") : paint,
                        borderColor: paint,
                        borderWidth: isHollow ? 1.6 : 0,
                    };
                    return {
                        value: [point[0], height(point[1])],
                        point,
                        itemStyle,
                        symbol: point[3] ? "pin" : markers || isMarked(it, nth) ? shapes[it.style % 6] : "none",
                        symbolSize: point[3] ? 18 : markers ? 8 : 7,
                    };
                });
                const whiskers = points
                    .filter((point) => point[2])
                    .map((point) => [point[0], ...point[2].map(height)]);
                return [
                    {
                        type: "line",
                        name: it.name,
                        data: drawn,
                        showAllSymbol: true,
                        connectNulls: false,
                        color: paint,
                        lineStyle: { width: markers ? 1.8 : 1.3, type: dashes[Math.min(2, it.style >> 3)] },
                        emphasis: { focus: "series" },
                    },
                    {
                        type: "custom",
                        name: it.name,
                        data: whiskers,
                        silent: true,
                        renderItem: whisker(paint, 0, false),
                        tooltip: { show: false },
                        encode: { x: 0, y: [1, 2] },
                        clip: true,
                    },
                ];
            });

    const lineOptions = (chart) => {
        const { x, y } = chart.data;
        const near = (items) => {
            const lines = items
                .filter((item) => item.seriesType === "line" && item.data?.point)
                .sort((one, other) => other.data.point[1] - one.data.point[1])
                .map(({ seriesName, data }) =>
                    line(
                        seriesName,
                        data.itemStyle.borderColor,
                        words(y, data.point[1]) +
                            interval(data.point, (end) => words(y, end)) +
                            (data.point[3] ? ", stalled" : ""),
                    ),
                );
            const where = items[0]?.axisValue;
            const told = { marks: () => `${tick(x, where)} ${x.title}`, nines: () => percentile(where) }[x.words];
            const at = items[0] ? (told?.() ?? `${digits(x.log ? 10 ** where : where)} ${x.title}`) : "";
            return [escaped(at), ...lines].join("<br>");
        };
        const hasMarks = x.words === "marks" || x.words === "nines" || x.log;
        const marks = hasMarks ? { customValues: x.ticks.map(([at]) => at) } : {};
        const style = axisStyle();
        const shown = chart.data.series.filter((it) => !hidden.has(it.name)).flatMap((it) => it.points);
        // As long as nothing is hidden, charts of one figure have the same scales, as on paper.
        const isWhole = !chart.data.series.some((it) => hidden.has(it.name));
        const most = isWhole && !y.log ? y.range[1] : undefined;
        const scale = unit(y, most ? [most] : figures(shown));
        // The last percentile has many digits.
        const right = x.words === "nines" ? 6 + 3.6 * x.ticks.at(-1)[1].length : 20;
        chart.step = most && !chart.log ? y.ticks[1][0] / scale.size : null;
        const values = shown.filter((point) => point && point[1] > 0).map((point) => point[1] / scale.size);
        const lowest = 10 ** Math.floor(Math.log10(Math.min(...values, 1e12)));
        const least = isWhole && y.log ? 10 ** y.range[0] : lowest;
        return {
            ...base(chart),
            tooltip: { ...base(chart).tooltip, formatter: near },
            grid: { left: 8, right, top: 30, bottom: x.title ? 28 : 8, containLabel: true },
            xAxis: {
                ...style,
                type: "value",
                min: x.range[0],
                max: x.range[1],
                name: x.title,
                nameLocation: "middle",
                nameGap: 28,
                splitLine: { show: false },
                axisTick: { show: true, ...marks },
                axisLabel: {
                    ...style.axisLabel,
                    ...marks,
                    showMinLabel: true,
                    showMaxLabel: true,
                    formatter: (at) => (hasMarks || at === x.range[1] ? tick(x, at) : digits(at)),
                },
            },
            yAxis: {
                ...style,
                type: chart.log ? "log" : "value",
                min: chart.log ? least : 0,
                max: !isWhole || y.log !== chart.log ? undefined : y.log ? 10 ** y.range[1] : most / scale.size,
                interval: chart.step,
                name: y.title,
                nameTextStyle: { ...style.nameTextStyle, align: "left", padding: [0, 0, 0, -20] },
                axisLabel: { ...style.axisLabel, formatter: scale.mark },
            },
            series: lineSeries(chart, scale, least),
        };
    };

    const barOptions = (chart) => {
        const { data } = chart;
        const shown = data.labels.map((label, nth) => [label, nth]).filter(([label]) => !hidden.has(label));
        const style = axisStyle();
        const scale = unit(data, figures(data.series.flatMap((it) => shown.map(([, nth]) => it.points[nth]))));
        const told = (value) => (data.words === "bytes" ? bytes(value) : digits(value));
        const near = (items) =>
            [
                escaped(items[0]?.axisValue ?? ""),
                ...items
                    .filter((item) => item.seriesType === "bar")
                    .map(({ seriesName, data: item }) =>
                        line(
                            seriesName,
                            item.itemStyle.borderColor,
                            `${told(item.point[1])}${data.words === "bytes" ? "" : ` ${data.unit}`}` +
                                interval(item.point, told),
                        ),
                    ),
            ].join("<br>");
        return {
            ...base(chart),
            tooltip: { ...base(chart).tooltip, formatter: near },
            // ECharts looks at one in two of more than forty labels, and cuts the widest if it is another.
            grid: { left: 18 + widest(shown.map(([label]) => label)), right: 24, top: 10, bottom: 48 },
            yAxis: {
                ...style,
                type: "category",
                inverse: true,
                data: shown.map(([label]) => label),
                axisLabel: { color: colour("ink"), interval: 0 },
            },
            xAxis: {
                ...style,
                type: chart.log ? "log" : "value",
                name: data.unit,
                nameLocation: "middle",
                nameGap: 28,
                axisLabel: { ...style.axisLabel, formatter: scale.mark },
            },
            series: data.series.flatMap((it, row) => {
                const paint = colour(`s${it.style % 8}`);
                const bars = shown.map(([, nth]) => it.points[nth]);
                const item = (point) => ({
                    value: point[1] / scale.size,
                    point,
                    itemStyle: {
                        color: point[2] ? paint : colour("background"),
                        borderColor: paint,
                        borderWidth: 1.2,
                    },
                });
                const ends = bars
                    .map((point, nth) => [nth, ...(point[2] ?? [NaN, NaN]).map((end) => end / scale.size)])
                    .filter(([, low]) => low === low);
                const shift = (row - (data.series.length - 1) / 2) * (0.75 / data.series.length);
                return [
                    {
                        type: "bar",
                        name: it.name,
                        data: bars.map(item),
                        color: paint,
                        barCategoryGap: "25%",
                        barGap: "0%",
                    },
                    {
                        type: "custom",
                        name: it.name,
                        data: ends,
                        silent: true,
                        renderItem: whisker(colour("ink"), shift, true),
                        encode: { x: [1, 2], y: 0 },
                        clip: true,
                    },
                ];
            }),
        };
    };

    // A row's name stands above its dots, because it may be as long as the chart is wide.
    const dotOptions = (chart) => {
        const { data } = chart;
        const shown = data.labels.map((label, nth) => [label, nth]).filter(([label]) => !hidden.has(label));
        const style = axisStyle();
        const told = (value) => (Math.abs(value) >= 100 ? digits(value) : String(+value.toPrecision(3)));
        const near = (items) => {
            const dots = items.filter((item) => item.seriesType === "scatter" && item.data?.point);
            const row = ({ seriesName, data: { point, itemStyle } }) =>
                line(
                    seriesName,
                    itemStyle.borderColor,
                    `${told(point[1])} ${data.x.title}${interval(point, told)}`,
                );
            return [escaped(items[0]?.axisValue ?? ""), ...dots.map(row)].join("<br>");
        };
        const room = (chart.plane.clientWidth || 800) - 48;
        const ends = data.x.range.map((end) => 10 ** end);
        const least = chart.log ? ends[0] : 0;
        return {
            ...base(chart),
            tooltip: { ...base(chart).tooltip, formatter: near, axisPointer: { type: "shadow", axis: "y" } },
            grid: { left: 18, right: 24, top: 10, bottom: 28, containLabel: true },
            yAxis: {
                ...style,
                type: "category",
                inverse: true,
                data: shown.map(([label]) => label),
                splitLine: { show: false },
                axisTick: { show: false },
                axisLabel: {
                    color: colour("ink"),
                    interval: 0,
                    inside: true,
                    margin: 2,
                    verticalAlign: "bottom",
                    padding: [0, 0, 3, 0],
                    width: room,
                    overflow: "truncate",
                },
                z: 3,
            },
            xAxis: {
                ...style,
                type: chart.log ? "log" : "value",
                min: least,
                max: chart.log ? ends[1] : undefined,
                name: data.x.title,
                nameLocation: "middle",
                nameGap: 28,
                axisLabel: { ...style.axisLabel, formatter: short },
            },
            series: data.series.flatMap((it, row) => {
                const paint = colour(`s${it.style % 8}`);
                const points = shown.map(([, nth]) => it.points[nth]);
                // Of a row of 46 pixels.
                const below = 5 + 11 * row;
                const item = (point, nth) =>
                    point && {
                        value: [Math.max(point[1], least), nth],
                        point,
                        itemStyle: {
                            color: point[2] ? paint : colour("background"),
                            borderColor: paint,
                            borderWidth: point[2] ? 0 : 1.6,
                        },
                    };
                const whiskers = points.flatMap((point, nth) =>
                    point?.[2] ? [[nth, Math.max(point[2][0], least), point[2][1]]] : [],
                );
                return [
                    {
                        type: "scatter",
                        name: it.name,
                        data: points.map(item).filter(Boolean),
                        symbol: shapes[it.style % 6],
                        symbolSize: 8,
                        symbolOffset: [0, below],
                        color: paint,
                    },
                    {
                        type: "custom",
                        name: it.name,
                        data: whiskers,
                        silent: true,
                        renderItem: whisker(paint, below / 46, true),
                        encode: { x: [1, 2], y: 0 },
                        clip: true,
                    },
                ];
            }),
        };
    };

    // Three axes of one logarithmic scale; what lies beyond them is at their ends.
    const triangleOptions = (chart) => {
        const { data } = chart;
        const { range, ticks } = data.x;
        const shown = data.series.filter((it) => !hidden.has(it.name));
        // The corners have their names beside them.
        const radius = Math.min(136, ((chart.plane.clientWidth || 800) - 120) / 1.75);
        const along = (figure) => Math.min(range[1], Math.max(range[0], Math.log10(Math.max(figure, 1e-300))));
        const told = (value) => (value < 10 ** range[0] ? `under ${short(10 ** range[0])}` : digits(value));
        const corner = (point, nth) => `${data.labels[nth]}: <b>${told(point[1])}</b>${interval(point, told)}`;
        const near = ({ data: { it, paint } }) =>
            [`<span style="color:${paint}">■</span> ${escaped(it.name)}`, ...it.points.map(corner)].join("<br>");
        const item = (it) => {
            const paint = colour(`s${it.style % 8}`);
            const isHollow = it.points.every((point) => !point[2]);
            return {
                name: it.name,
                value: it.points.map((point) => along(point[1])),
                it,
                paint,
                symbol: shapes[it.style % 6],
                symbolSize: 8,
                lineStyle: { color: paint, width: 1.8, type: dashes[Math.min(2, it.style >> 3)] },
                itemStyle: {
                    color: isHollow ? colour("background") : paint,
                    borderColor: paint,
                    borderWidth: isHollow ? 1.6 : 0,
                },
            };
        };
        return {
            ...base(chart),
            dataZoom: [],
            tooltip: { ...base(chart).tooltip, trigger: "item", formatter: near },
            radar: {
                indicator: data.labels.map((name, nth) => ({
                    name,
                    min: range[0],
                    max: range[1],
                    axisLabel: {
                        show: nth === 0,
                        color: colour("muted"),
                        formatter: (at) => tick(data.x, at),
                        showMinLabel: true,
                        showMaxLabel: true,
                    },
                })),
                center: ["50%", "60%"],
                radius,
                splitNumber: ticks.length - 1,
                axisName: { color: colour("ink") },
                axisLine: { lineStyle: { color: colour("grid") } },
                splitArea: { show: false },
                // The ring of what was asked stands out.
                splitLine: { lineStyle: { color: ticks.map(([at]) => colour(at === 0 ? "muted" : "grid")) } },
            },
            series: [{ type: "radar", data: shown.map(item), emphasis: { lineStyle: { width: 3 } } }],
        };
    };

    // Other figures at the places of a chart's points: what is shown changes its place with a choice.
    const choose = (chart, name) => {
        const { data } = chart;
        const choice = data.choices.find((it) => it.name === name);
        const before = { name: data.shown, description: data.description, y: data.y };
        before.figures = data.series.map(({ points }) => points.map((point) => point && point[1]));
        data.series.forEach(({ points }, nth) =>
            points.forEach((point, at) => {
                if (point) point[1] = choice.figures[nth][at];
            }),
        );
        Object.assign(data, { shown: choice.name, description: choice.description, y: choice.y });
        data.choices.splice(data.choices.indexOf(choice), 1, before);
        chart.plane.setAttribute("aria-label", spoken(data));
        draw(chart);
    };
    const spoken = (data) => `${data.description}. Arrow keys tell its points.`;

    const painters = { bars: barOptions, dots: dotOptions, lines: lineOptions, triangle: triangleOptions };
    const options = (chart) => painters[chart.data.kind](chart);
    const hasRows = ({ data }) => data.kind === "bars" || data.kind === "dots";
    const names = (chart) => (hasRows(chart) ? chart.data.labels : chart.data.series.map((it) => it.name));
    const draw = (chart) => {
        chart.drawn?.setOption(options(chart), { notMerge: true });
        chart.legend
            .querySelectorAll("button[data-name]")
            .forEach((button) => button.setAttribute("aria-pressed", String(!hidden.has(button.dataset.name))));
    };
    const begin = (chart) => {
        if (chart.drawn) return;
        chart.figure.classList.add("live");
        const height = hasRows(chart) ? 70 + 46 * chart.data.labels.length : 340;
        chart.plane.style.height = `${height}px`;
        chart.drawn = echarts.init(chart.plane, null, { renderer: "svg" });
        // The marks of the whole axis are too few for a part of it.
        chart.drawn.on("datazoom", () => {
            const isPart = chart.drawn.getOption().dataZoom.some(({ start, end }) => start > 0 || end < 100);
            if (chart.step) chart.drawn.setOption({ yAxis: { interval: isPart ? null : chart.step } });
        });
        draw(chart);
    };
    const toggle = (name) => {
        if (!hidden.delete(name)) hidden.add(name);
        charts.forEach(draw);
    };

    const save = (name, address) => element("a", { download: name, href: address }).click();
    const named = (chart) => [chart.caption, chart.data.shown].filter(Boolean).join(", ");
    const saved = (chart) => named(chart).toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const asSvg = (chart) => {
        const box = element("div", {});
        const own = echarts.init(box, null, {
            renderer: "svg",
            ssr: true,
            width: 800,
            height: chart.drawn.getHeight(),
        });
        own.setOption({
            ...options(chart),
            backgroundColor: colour("background"),
            title: { text: named(chart), textStyle: { ...text(), color: colour("ink") } },
            legend: hasRows(chart) ? {} : { type: "scroll", bottom: 0, textStyle: text() },
            grid: { ...options(chart).grid, top: 60, bottom: 50 },
        });
        const drawing = own.renderToSVGString();
        own.dispose();
        return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing)}`;
    };
    const asPng = async (chart) => {
        const image = new Image();
        image.src = asSvg(chart);
        await image.decode();
        const canvas = element("canvas", { width: 1600, height: 2 * chart.drawn.getHeight() });
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        return canvas.toDataURL("image/png");
    };
    // Bars keep their beginning; of others the middle stays where it is.
    const zoom = (chart, factor) =>
        chart.drawn.getOption().dataZoom.forEach(({ start, end }, index) => {
            const fixed = chart.data.kind === "bars" ? start : (start + end) / 2;
            const moved = (at) => Math.min(100, Math.max(0, fixed + (at - fixed) * factor));
            const [from, to] = factor ? [start, end].map(moved) : [0, 100];
            chart.drawn.dispatchAction({ type: "dataZoom", dataZoomIndex: index, start: from, end: to });
        });

    const button = (words, label, act) => {
        const made = element("button", { type: "button", title: label, "aria-label": label }, words);
        made.addEventListener("click", () => act(made));
        return made;
    };
    const mark = (style, isBar, isHollow = false) => {
        const shape = isBar
            ? "M0,0H10V10H0Z"
            : [
                  "M5,0A5,5 0 1 1 4.99,0Z",
                  "M0,0H10V10H0Z",
                  "M5,0L10,10H0Z",
                  "M5,0L10,5L5,10L0,5Z",
                  "M0,0H10L5,10Z",
                  "M0,5L3,0H7L10,5L7,10H3Z",
              ][style % 6];
        const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        box.setAttribute("viewBox", "-1 -1 12 12");
        box.setAttribute("aria-hidden", "true");
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        path.setAttribute("d", shape);
        path.setAttribute(isHollow ? "stroke" : "fill", `var(--s${style % 8})`);
        if (isHollow) path.setAttribute("fill", "none");
        box.append(path);
        return box;
    };
    const controls = (chart) => {
        const { data } = chart;
        const tools = element("div", { class: "tools", role: "group", "aria-label": `${chart.caption}: tools` });
        if (data.kind !== "triangle") {
            tools.append(
                button("Log", "Log axis", (made) => {
                    chart.log = !chart.log;
                    made.setAttribute("aria-pressed", String(chart.log));
                    draw(chart);
                }),
            );
            tools.firstChild.setAttribute("aria-pressed", String(chart.log));
        }
        if (data.choices) {
            const rank = (name) => Number(name.slice(1));
            const names = [data.shown, ...data.choices.map(({ name }) => name)].sort((a, b) => rank(a) - rank(b));
            const press = (shown) =>
                buttons.forEach((it) => it.setAttribute("aria-pressed", String(it.textContent === shown)));
            const buttons = names.map((name) =>
                button(name, `Show ${name}`, () => {
                    if (name !== data.shown) choose(chart, name);
                    press(name);
                }),
            );
            press(data.shown);
            tools.append(...buttons);
        }
        if (data.kind !== "triangle")
            tools.append(
                button("+", "Zoom in", () => zoom(chart, 0.5)),
                button("−", "Zoom out", () => zoom(chart, 2)),
                button("All", "Show all of it", () => zoom(chart, 0)),
            );
        tools.append(
            button("SVG", "Save as SVG", () => save(`${saved(chart)}.svg`, asSvg(chart))),
            button("PNG", "Save as PNG", async () => save(`${saved(chart)}.png`, await asPng(chart))),
        );
        chart.legend = element("div", { class: "legend", role: "group", "aria-label": "Engines shown" });
        const isBars = data.kind === "bars";
        if (hasRows(chart))
            data.series.forEach((it) => {
                const isHollow = !isBars && it.points.every((point) => !point?.[2]);
                chart.legend.append(element("span", {}, mark(it.style, isBars, isHollow), it.name));
            });
        names(chart).forEach((name, nth) => {
            const made = button(name, `Show ${name}`, () => toggle(name));
            made.dataset.name = name;
            if (hasRows(chart)) made.className = "framed";
            else made.prepend(mark(data.series[nth].style, false));
            chart.legend.append(made);
        });
        return tools;
    };
    // Arrows move along the points as a mouse would.
    const walk = (chart) => {
        let at = -1;
        chart.plane.addEventListener("keydown", (event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (!step) return;
            event.preventDefault();
            const drawn = chart.drawn.getOption().series[0]?.data ?? [];
            at = Math.max(0, Math.min(drawn.length - 1, at + step));
            chart.drawn.dispatchAction({ type: "showTip", seriesIndex: 0, dataIndex: at });
        });
        chart.plane.addEventListener("blur", () => chart.drawn?.dispatchAction({ type: "hideTip" }));
    };

    document.querySelectorAll("figure").forEach((figure) => {
        const data = JSON.parse(figure.querySelector("script").textContent);
        const chart = {
            figure,
            data,
            caption: figure.querySelector("figcaption").textContent,
            log: (data.y ?? data.x)?.log ?? false,
        };
        chart.plane = element("div", {
            class: "plane",
            tabindex: "0",
            role: "application",
            "aria-label": spoken(data),
        });
        const tools = controls(chart);
        figure.querySelector("figcaption").after(tools);
        figure.append(chart.plane, chart.legend);
        walk(chart);
        charts.push(chart);
        figure.chart = chart;
    });
    const seen = new IntersectionObserver(
        (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => begin(entry.target.chart)),
        { rootMargin: "300px" },
    );
    charts.forEach((chart) => seen.observe(chart.figure));
    charts.forEach(draw);
    dark.addEventListener("change", () => charts.forEach(draw));
    let waiting;
    addEventListener("resize", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => charts.forEach((chart) => chart.drawn?.resize()), 100);
    });
})();
