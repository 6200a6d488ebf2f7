() => ({
    asked: document.querySelectorAll(".bd-article .math").length,
    drawn: document.querySelectorAll(".bd-article .math mjx-container").length,
    broken: document.querySelectorAll("mjx-merror, [data-mjx-error]").length,
    raw: /\$\$|\\\(|\\\[|\\begin\{/.test(
        Array.from(document.querySelectorAll(".bd-article p, .bd-article li, .bd-article td"))
            .map((e) => e.innerText).join("\n")),
})
