"""What files and settings say, checked when it is read."""

from pydantic import BaseModel, ConfigDict


class Checked(BaseModel):
    """Values of the types that their names announce; other names are refused, none changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")
