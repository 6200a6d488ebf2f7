/* The page of an experiment as it lies on the screen. */
() => {
    const shown = (e) => e.getBoundingClientRect().width > 0;
    const scale = (e) => {
        const matrix = e.getScreenCTM();
        return matrix ? Math.hypot(matrix.a, matrix.b) : 1;
    };
    const answer = document.querySelector(".xl-answer");
    const below = (part) => part ? part.getBoundingClientRect().bottom : 0;
    /* Letters on letters: rotated ones aside, whose boxes are larger than they are. */
    const onto = Array.from(document.querySelectorAll("main figure svg")).flatMap((svg) => {
        const texts = Array.from(svg.querySelectorAll(":scope text")).filter(shown)
            .filter((e) => Math.abs(e.getScreenCTM().b) < 0.01)
            .map((e) => [e.textContent, e.getBoundingClientRect()]);
        return texts.flatMap(([name, a], i) => texts.slice(0, i).filter(([, b]) =>
            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
            .map(([other]) => `${name} on ${other}`));
    });
    return {
        onto,
        letters: Array.from(document.querySelectorAll("main figure text")).filter(shown)
            .map((e) => parseFloat(getComputedStyle(e).fontSize) * scale(e)),
        words: Array.from(document.querySelectorAll("main figure th, main figure td"))
            .filter(shown).map((e) => parseFloat(getComputedStyle(e).fontSize)),
        headline: below(answer && answer.querySelector(".xl-headline")),
        told: below(answer && answer.querySelector(".xl-cost")),
        figure: answer ? answer.querySelector("figure").getBoundingClientRect().top : 0,
        cut: Array.from(document.querySelectorAll(".xl-table")).filter((table) => {
            const box = table.querySelector(".xl-scroll");
            const scrolls = ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
            return box.scrollWidth > box.clientWidth + 1 && !scrolls;
        }).length,
        boxes: Array.from(document.querySelectorAll(".xl-table")).filter((table) => {
            const box = table.querySelector(".xl-scroll");
            return box.scrollHeight > box.clientHeight + 20;
        }).map((table) => table.querySelectorAll("tbody tr").length),
        stuck: Array.from(document.querySelectorAll(".xl-table thead th")).slice(0, 1)
            .map((e) => getComputedStyle(e).position)[0],
        broken: Array.from(document.querySelectorAll(".xl-rows th:not(.xl-group)"))
            .filter((label) => {
                const text = document.createRange();
                text.selectNodeContents(label);
                const lines = new Set(Array.from(text.getClientRects(), (line) => line.top));
                return label.textContent.trim().length <= 3 && lines.size > 1;
            })
            .map((label) => label.textContent.trim()),
        wide: Array.from(document.querySelectorAll("figure.xl-plot, figure.xl-figure"))
            .filter((e) => e.scrollWidth > e.clientWidth + 2).length,
        overflow: document.documentElement.scrollWidth,
        tables: Array.from(document.querySelectorAll(".xl-table")).filter(shown).filter((table) => {
            const box = table.querySelector(".xl-scroll");
            return box.scrollWidth > box.clientWidth + 1;
        }).map((table) => table.querySelector("caption").textContent.slice(0, 60)),
        open: document.querySelectorAll("details.hide[open]").length,
    };
}
