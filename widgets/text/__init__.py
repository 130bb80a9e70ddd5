"""Text as widgets draw it: cells, tones, glyphs, ages."""
