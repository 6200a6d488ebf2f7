/* Every column is sorted twice; a column is numeric when one of its cells has a sort value. */
() =>
    Array.from(document.querySelectorAll(".xl-interactive table")).flatMap((table) =>
        Array.from(table.tHead.rows[0].cells).flatMap((head, index) => {
            const key = ({dataset}) => dataset.sort === undefined ? null : Number(dataset.sort);
            const values = () => Array.from(table.tBodies[0].rows, (row) => key(row.cells[index]));
            if (values().every((value) => value === null)) return [];
            const button = head.querySelector("button");
            if (!button) return [{column: head.textContent, up: null, down: null}];
            button.click();
            const up = values();
            button.click();
            return [{column: head.textContent, up: up, down: values()}];
        }))
