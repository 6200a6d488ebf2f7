/* What a reader meets on the page that is open; called with the theme to look at it in. */
(theme) => {
  document.documentElement.dataset.theme = theme;
  document.documentElement.style.colorScheme = theme;

  function parse(colour) {
    const parts = (colour.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
    if (colour.startsWith("color(")) return [...parts.slice(0, 3).map((p) => p * 255), parts[3] ?? 1];
    return [parts[0], parts[1], parts[2], parts.length > 3 ? parts[3] : 1];
  }
  function over(top, under) {
    const a = top[3];
    return [0, 1, 2].map((i) => top[i] * a + under[i] * (1 - a)).concat(1);
  }
  function luminance(colour) {
    const [r, g, b] = colour.slice(0, 3).map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function background(element) {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    const base = theme === "dark" ? [0, 0, 0, 1] : [255, 255, 255, 1];
    return layers.reverse().reduce((under, top) => over(top, under), base);
  }
  function isShown(element) {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const clipped = style.clipPath !== "none" || style.clip !== "auto";
    return style.visibility !== "hidden" && style.opacity !== "0" && box.width > 1 && box.height > 1 && !clipped;
  }
  function faint() {
    const found = new Map();
    const walker = document.createTreeWalker(document.querySelector("main") || document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.textContent.trim() || !element || !isShown(element)) continue;
      if (element.closest("script, style, mjx-container, svg, [hidden]")) continue;
      const style = getComputedStyle(element);
      const ground = background(element);
      const a = luminance(over(parse(style.color), ground));
      const b = luminance(ground);
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) {
        const name = element.tagName.toLowerCase() + "." + element.className;
        if (!found.has(name)) found.set(name, ratio.toFixed(2) + " " + walker.currentNode.textContent.trim().slice(0, 40));
      }
    }
    return Object.fromEntries(found);
  }
  return faint();
};
