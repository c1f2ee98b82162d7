package uaident

// Names of the registry that are spelled in another way, or stand beside another.
var spelledTests = map[string][]identifyTest{
	"a name that its operator writes longer": {
		{chrome + " Agent-NovaAct/0.9", "Agent-NovaAct", AIAssistant, FromRegistry},
		{"ia_archiver-web.archive.org", "ia_archiver-web.archive.org", Archive, FromRegistry},
	},
}
