"""Zero-resource multilingual model transfer (MAN-MoE): tables, figures, tasks."""

HERE = "xlrepro.papers.man_moe"
# The functions of the tasks. Code may move; the names on the left stand in records and do not.
TASKS = {
    "transfer": f"{HERE}.transfer:run",
    "sweep": f"{HERE}.sweep:run",
    "statistics": f"{HERE}.statistics:run",
    "mappings": f"{HERE}.mappings:run",
    "mappings_control": f"{HERE}.mappings_control:run",
}
