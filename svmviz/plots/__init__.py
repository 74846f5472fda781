"""Plotly figures: values in, Figure out. Nothing here knows of Streamlit."""
