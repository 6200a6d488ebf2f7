/* What keeps somebody from reading or using the page; axe says how grave it is. In the second
   theme what colours decide is looked at again, and nothing else. */
async (colours) => {
    const found = await axe.run(document, {
        resultTypes: ["violations"],
        elementRef: false,
        preload: false, // it would ask for stylesheets where there are none
        rules: {"valid-lang": {enabled: false}}, // x-en is an artificial language's
        ...(colours && {runOnly: ["color-contrast", "link-in-text-block"]}),
    });
    return found.violations
        .filter(({impact}) => impact === "serious" || impact === "critical")
        .map(({id, nodes}) => `${id}: ${nodes.length} x ${nodes[0].html.slice(0, 120)}`);
}
