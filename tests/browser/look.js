/* A page as it lies on the screen. */
() => {
    const shown = (e) => e.getBoundingClientRect().width > 0;
    const headline = document.querySelector(".xl-headline");
    return {
        headline: headline ? headline.getBoundingClientRect().bottom : 0,
        cut: Array.from(document.querySelectorAll(".xl-scroll, figure")).filter(shown).filter((box) => {
            const scrolls = ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
            return box.scrollWidth > box.clientWidth + (box.tagName === "FIGURE" ? 2 : 1) && !scrolls;
        }).length,
        overflow: document.documentElement.scrollWidth,
    };
}
