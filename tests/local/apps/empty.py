from duetime import App

app = App()
