"""The race of the rules: how the duality gap falls with every pair that is moved."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

STYLES = (
    {"color": "#2B8CD8", "dash": "solid", "symbol": "circle"},
    {"color": "#E0681A", "dash": "dash", "symbol": "triangle-up"},
    {"color": "#12A37A", "dash": "dot", "symbol": "square"},
)
MARKS = 12
"""Markers a line: enough to tell the lines apart, few enough to see the line."""

TEXT = {"size": 15}
"""Given to every text by itself: Streamlit's theme overrides the size that is set for the whole figure."""


def race_figure(gaps: Mapping[str, Sequence[float]], quantity: str = "duality gap") -> go.Figure:
    """Gap against pairs moved, on a log scale.

    Parameters
    ----------
    gaps : mapping of str to (T + 1,) sequence of float
        For every rule its gap before the first pair and after each. Values of 0 and below are left out.
    quantity : str, default "duality gap"
        What the values are.

    Returns
    -------
    plotly.graph_objects.Figure
        One line a rule, told apart by colour, dash and marker.
    """
    figure = go.Figure()
    for (name, values), style in zip(gaps.items(), STYLES, strict=False):
        y = np.asarray(values, float)
        figure.add_scatter(
            x=np.arange(len(y)),
            y=np.where((y > 0) & np.isfinite(y), y, np.nan),
            name=name,
            mode="lines+markers",
            line={"color": style["color"], "dash": style["dash"], "width": 2.5},
            marker={"symbol": style["symbol"], "size": 9, "maxdisplayed": MARKS},
            hovertemplate="%{y:.3g} after %{x} pairs",
        )
    figure.update_layout(
        height=360,
        margin={"l": 10, "r": 10, "t": 36, "b": 10},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": TEXT},
        hovermode="x unified",
        font=TEXT,
    )
    figure.update_xaxes(title={"text": "pairs moved", "font": TEXT}, tickfont=TEXT, rangemode="tozero")
    figure.update_yaxes(
        title={"text": f"{quantity} (log scale)", "font": TEXT},
        tickfont=TEXT,
        type="log",
        exponentformat="power",
    )
    return figure
