/* axe's time goes by elements: of siblings that are alike in kind, inside and out, it sees the
   first; what is drawn inside an image says nothing; the menu is the same on all pages: it is seen
   on the first. */
(withMenu) => {
    const drawn = "figure svg > *, mjx-container svg > *";
    document.querySelectorAll(drawn).forEach((part) => part.remove());
    if (!withMenu) document.querySelectorAll(".bd-sidebar-primary > *").forEach((e) => e.remove());
    const kind = (e) => `${e.tagName}.${e.className}`;
    for (const parent of document.querySelectorAll("main *")) {
        if (!parent.isConnected) continue;
        const seen = new Set();
        for (const child of Array.from(parent.children)) {
            const own = [child, ...child.querySelectorAll("*")].map((e) => kind(child) + kind(e));
            if (own.every((each) => seen.has(each))) child.remove();
            own.forEach((each) => seen.add(each));
        }
    }
}
