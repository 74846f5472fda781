"""The Streamlit side of the app: state, the drawing Board, the Player, the controls."""
