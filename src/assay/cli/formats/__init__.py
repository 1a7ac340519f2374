"""Output formats for other programs: JUnit, SARIF, commands of GitHub Actions, and Markdown."""
