"""How a claim is understood and worded before it is judged, and what of it is wrong after."""
