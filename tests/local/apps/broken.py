"""An app whose import fails."""

ANSWER = 1 // 0
