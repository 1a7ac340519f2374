"""How a claim is understood and worded before it is judged, and which of its words are wrong afterwards."""
