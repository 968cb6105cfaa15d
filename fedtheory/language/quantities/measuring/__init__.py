"""How quantities are measured: exact expectations at local steps, clock times, and the axes that numbers stand on."""
