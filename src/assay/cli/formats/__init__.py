"""What other programs read: JUnit, SARIF, commands of GitHub Actions and Markdown, of checks and of evaluations."""
